"""Numbers, times and paths as people read them."""

from datetime import UTC, datetime, tzinfo

NO_DATE = "no date"
_UNITS = ("B", "kB", "MB", "GB", "TB")
_AGES = ((31_536_000, "y"), (2_592_000, "mo"), (86_400, "d"), (3_600, "h"), (60, "min"))


def size(number: float) -> str:
    """Write a number of bytes with a unit."""
    for unit in _UNITS:
        if number < 1000 or unit == _UNITS[-1]:
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def amount(number: float) -> str:
    """Write a large number with as few digits as tell its size."""
    for unit in ("", "k", "M"):
        if number < 1000:
            return f"{number:.0f}{unit}" if not unit or number >= 100 else f"{number:.1f}{unit}"
        number /= 1000
    return f"{number:,.1f}G"


def money(dollars: float, is_estimate: bool = False) -> str:
    """Write an amount of dollars; a tilde marks an estimate."""
    return f"{'~' if is_estimate else ''}{'<$0.01' if 0 < dollars < 0.005 else f'${dollars:,.2f}'}"


def seconds(milliseconds: float) -> str:
    """Write how long something took, short as it may be."""
    passed = milliseconds / 1000
    if passed < 60:
        return f"{passed:.1f} s"
    minutes = int(passed // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60:,} h {minutes % 60} min"


def count(number: int, thing: str, things: str | None = None) -> str:
    """Write a number with what it counts."""
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"


def stamp(milliseconds: int | None) -> str | None:
    """Write a point in time as transcripts do, if the calendar holds it."""
    if milliseconds is None:
        return None
    moment = _moment(milliseconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None


def day(milliseconds: int | None) -> str:
    """Write a day in the user's time zone."""
    moment = _moment(milliseconds) if milliseconds else None
    return moment.strftime("%Y-%m-%d") if moment else NO_DATE


def minute(milliseconds: int | None) -> str:
    """Write a day and the time of day in the user's time zone."""
    moment = _moment(milliseconds) if milliseconds else None
    return moment.strftime("%Y-%m-%d %H:%M") if moment else NO_DATE.ljust(len("2026-03-01 10:00"))


def clock(milliseconds: int) -> str:
    """Write the time of day in the user's time zone."""
    moment = _moment(milliseconds)
    return moment.strftime("%H:%M") if moment else ""


def lasting(started: int | None, ended: int | None) -> str:
    """Write how long something lasted, if that was more than a minute."""
    seconds = (ended - started) / 1000 if started is not None and ended is not None else 0
    for length, unit in _AGES[-3:]:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit}"
    return ""


def last_part(path: str) -> str:
    """Return the last part of a path of whatever system, or all of what has none."""
    return path.rstrip("/\\").replace("\\", "/").rpartition("/")[2] or path


def age(milliseconds: int | None, now: float) -> str:
    """Write how long ago something was."""
    if milliseconds is None:
        return ""
    seconds = now - milliseconds / 1000
    for length, unit in _AGES:
        if seconds >= length:
            return f"{seconds // length:.0f} {unit} ago"
    return "just now"


def _moment(milliseconds: int, zone: tzinfo | None = None) -> datetime | None:
    """Return a moment in a time zone, the user's if none is given; at its ends the calendar lacks some of them."""
    try:
        return datetime.fromtimestamp(milliseconds / 1000, zone)
    except (OverflowError, ValueError, OSError):
        return None
