"""How long Claude Code keeps transcripts, as its settings below a root say, and the change that makes it longer."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeGuard

from searchkit.sources.jsonl import open_regular
from searchkit.types import DEFAULT_DAYS, MIN_DAYS, SETTING, Fault, Policy

# The user's own, and those of the project that the home directory is when Claude Code is started there.
SETTINGS = ("settings.json", "settings.local.json")
LAST_SWEEP = ".last-cleanup"
# Nobody has more settings than that; what is larger is something else.
MOST_BYTES = 4 << 20
# Longer than any calendar; a larger number could not be written as JSON again.
MOST_DAYS = 10**9
_BLANK = " \t\r\n"
_BYTE_ORDER_MARK = "\ufeff"


class NoSettings(ValueError):
    """A settings file that cannot be understood; says why."""


class _Member(NamedTuple):
    """A member of a JSON object: its name, and where name and value lie in the text."""

    name: str
    start: int
    value: int
    end: int


def policy(root: Path) -> Policy:
    """Read what the settings below a root say; where they say nothing or are damaged, it is the default.

    Every start of Claude Code sweeps all projects, by the settings that hold where it was started. Those of
    `settings.local.json` hold in one directory, so they can shorten the time for all, and never lengthen it.
    """
    faults: list[Fault] = []
    own, local = (_days(root / name, faults) for name in SETTINGS)
    is_local = local is not None and local < (own or DEFAULT_DAYS)
    return Policy(
        root=str(root),
        settings=str(root / SETTINGS[is_local]),
        days=(local if is_local else own) or DEFAULT_DAYS,
        is_set=is_local or own is not None,
        faults=faults,
        last_sweep=_last_sweep(root / LAST_SWEEP),
    )


def longer(text: bytes | None, days: int, is_added: bool = True) -> bytes | None:
    """Return a settings file that keeps transcripts for so many days or more; all else stays byte for byte.

    A file that says a larger number stays as it is, as does one that says none unless it is to be added.
    Raises NoSettings where the text cannot be understood.
    """
    if text is None or not text.strip():
        return _member(days, "{\n  ", "\n}\n").encode() if is_added else text
    decoded = _decoded(text)
    said = _loaded(decoded)
    present_days = said.get(SETTING)
    if _is_number_of_days(present_days) and present_days >= days:
        return text
    members = list(_members(decoded))
    # Of a name that is there twice, the last counts.
    present = next((one for one in reversed(members) if one.name == SETTING), None)
    if present is not None:
        return f"{decoded[: present.value]}{days}{decoded[present.end :]}".encode()
    if not is_added:
        return text
    if not members:
        at = decoded.index("{") + 1
        return f"{decoded[:at]}{_member(days, chr(10) + '  ', chr(10))}{decoded[at:].lstrip(_BLANK)}".encode()
    first, last = members[0], members[-1]
    between = decoded[decoded.index("{") + 1 : first.start]
    return f"{decoded[: last.end]}{_member(days, ',' + between, '')}{decoded[last.end :]}".encode()


def _days(path: Path, faults: list[Fault]) -> int | None:
    """Return the number of days that a file says, or None; notes why it says none though it tries to."""
    try:
        with open_regular(str(path)) as file:
            text = file.read(MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        hint = "give yourself permission to read it"
        faults.append(Fault(file=str(path), message=f"cannot be read ({error.strerror})", hint=hint))
        return None
    if not text.strip():
        return None
    try:
        said = _loaded(_decoded(text)).get(SETTING)
    except NoSettings as error:
        hint = "mend that file by hand, for Claude Code cannot read it either"
        faults.append(Fault(file=str(path), message=f"is damaged ({error})", hint=hint))
        return None
    if said is None:
        return None
    if _is_number_of_days(said):
        return int(min(said, MOST_DAYS))
    message = f"sets {SETTING} to {json.dumps(said)[:40]}, which is no number of days from {MIN_DAYS} on"
    if said == 0 and not isinstance(said, bool):
        message += "; Claude Code before 2.1.89 then deletes all transcripts and writes none, later versions refuse it"
    faults.append(Fault(file=str(path), message=message, hint="run: searchkit keep"))
    return None


def _is_number_of_days(value: object) -> TypeGuard[float]:
    if isinstance(value, float):
        return value.is_integer() and value >= MIN_DAYS
    return isinstance(value, int) and not isinstance(value, bool) and value >= MIN_DAYS


def _last_sweep(path: Path) -> int | None:
    """Return when Claude Code looked for transcripts to delete, where it has left that."""
    try:
        with open_regular(str(path)) as file:
            written = file.read(100).decode().strip()
        moment = datetime.fromisoformat(written)
        return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (OSError, ValueError, OverflowError):
        return None


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise NoSettings(f"byte {error.start} is not UTF-8") from error


def _loaded(text: str) -> dict[str, object]:
    try:
        loaded = json.loads(text.removeprefix(_BYTE_ORDER_MARK), parse_constant=_refuse)
    except RecursionError as error:
        raise NoSettings("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise NoSettings(f"no JSON from line {error.lineno}, column {error.colno} on") from error
    except ValueError as error:
        raise NoSettings(str(error)) from error
    if not isinstance(loaded, dict):
        raise NoSettings("it holds no JSON object")
    return loaded


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _members(text: str) -> Iterator[_Member]:
    """Yield the members of the JSON object that a text is known to hold."""
    read = json.JSONDecoder().raw_decode
    at = _past_blanks(text, text.index("{") + 1)
    while text[at] != "}":
        start = at
        name, at = read(text, at)
        value = _past_blanks(text, _past_blanks(text, at) + 1)
        _, end = read(text, value)
        yield _Member(name, start, value, end)
        at = _past_blanks(text, end)
        if text[at] == ",":
            at = _past_blanks(text, at + 1)


def _past_blanks(text: str, at: int) -> int:
    while text[at] in _BLANK:
        at += 1
    return at


def _member(days: int, before: str, after: str) -> str:
    return f'{before}"{SETTING}": {days}{after}'
