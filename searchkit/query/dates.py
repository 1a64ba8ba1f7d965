"""Says which stretch of time the words of a person name.

Everything is reckoned in the time zone of `now`; the clock itself is never asked. A zone with
summer time must be one that knows it: `datetime.now(LOCAL)`, not `datetime.now().astimezone()`,
whose offset is that of today for every other day, too.
"""

import re
from collections.abc import Callable, Collection, Iterable
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import partial
from typing import Literal

import msgspec

from searchkit.query.types import Period, Span

# The words for times: months, weekdays, units and counts, and what French, Chinese and Korean say for them.
#
# Of those languages only the commonest sayings are known; `to_english` leaves everything else as it is.


def _numbered(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


_ENGLISH_MONTHS = "january february march april may june july august september october november december"
_FRENCH_MONTHS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
LONG_MONTHS = _numbered(_ENGLISH_MONTHS, 1) | _numbered(_FRENCH_MONTHS, 1)
SHORT_MONTHS = _numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1) | {"sept": 9}
# The months whose English names mean nothing else: the others are verbs or the names of people, too.
CLEAR_MONTHS = ("january", "february", "july", "september", "october", "november", "december")

LONG_WEEKDAYS = {
    **_numbered("monday tuesday wednesday thursday friday saturday sunday", 0),
    **_numbered("lundi mardi mercredi jeudi vendredi samedi dimanche", 0),
}
SHORT_WEEKDAYS = _numbered("mon tue wed thu fri sat sun", 0)

NUMBERS = {
    **dict.fromkeys(("a", "an", "un", "une"), 1),
    **_numbered("one two three four five six seven eight nine ten eleven twelve", 1),
    **_numbered("deux trois quatre cinq six sept huit neuf dix", 2),
    **_numbered("一 二 三 四 五 六 七 八 九 十", 1),
    "两": 2,
}

_UNIT_NAMES = {
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "d day days",
    "week": "w wk wks week weeks",
    "month": "m mo month months",
    "year": "y yr yrs year years",
}
UNITS = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split()}

# English for what is left of it, in the letters of French and English. Earlier lines win: "avant-hier" holds "hier".
_LATIN = (
    (r"\bil y a (\w+) minutes?\b", r"\1 minutes ago"),
    (r"\bil y a (\w+) heures?\b", r"\1 hours ago"),
    (r"\bil y a (\w+) jours?\b", r"\1 days ago"),
    (r"\bil y a (\w+) semaines?\b", r"\1 weeks ago"),
    (r"\bil y a (\w+) mois\b", r"\1 months ago"),
    (r"\bil y a (\w+) (?:ans?|ann[eé]es?)\b", r"\1 years ago"),
    (r"\bavant[- ]hier\b", "day before yesterday"),
    (r"\b(?:hier|last (?:night|evening))\b", "yesterday"),
    (r"\b(?:aujourd'hui|tonight|this (?:morning|afternoon|evening))\b", "today"),
    (r"\bdemain\b", "tomorrow"),
    (r"\bcette semaine\b", "this week"),
    (r"\bce mois(?:[- ]ci)?\b", "this month"),
    (r"\bcette ann[eé]e\b", "this year"),
    (r"\b(?:la )?semaine (?:derni[eè]re|pass[eé]e)\b", "last week"),
    (r"\b(?:le )?mois (?:dernier|pass[eé])\b", "last month"),
    (r"\b(?:l')?(?:an|ann[eé]e) (?:derni(?:er|[eè]re)|pass[eé]e?)\b", "last year"),
    (r"\b(\w+) dernier\b", r"last \1"),
    (r"\bprevious (week|month|year)\b", r"last \1"),
    (r"\bpast (day|week|month|year)\b", r"last one \1"),
    (r"\bpast (\w+ (?:days|weeks|months|years))\b", r"last \1"),
)
_HAN_COUNT = "([0-9]{1,4}|[一两二三四五六七八九十])"
# The same for Chinese and Korean. Blanks keep the English apart from words that none separates.
_ASIAN = (
    (rf"{_HAN_COUNT} ?(?:分钟[之以]?前|분 ?전)", r" \1 minutes ago "),
    (rf"{_HAN_COUNT} ?(?:个?小时[之以]?前|시간 ?전)", r" \1 hours ago "),
    (rf"{_HAN_COUNT} ?(?:天[之以]?前|일 ?전)", r" \1 days ago "),
    (rf"{_HAN_COUNT} ?(?:(?:周|个?星期)[之以]?前|주일? ?전)", r" \1 weeks ago "),
    (rf"{_HAN_COUNT} ?(?:个月[之以]?前|(?:개월|달) ?전)", r" \1 months ago "),
    (rf"{_HAN_COUNT} ?(?:年[之以]?前|년 ?전)", r" \1 years ago "),
    ("前天|그저께|그제", " day before yesterday "),
    ("昨天|어제", " yesterday "),
    ("今天|오늘", " today "),
    ("明天|내일", " tomorrow "),
    ("这个?(?:周|星期)|本周|이번 ?주", " this week "),
    ("这个月|本月|이번 ?달", " this month "),
    ("今年|올해", " this year "),
    ("上个?(?:周|星期)|지난 ?주", " last week "),
    ("上个?月|지난 ?달", " last month "),
    ("去年|작년", " last year "),
    ("([0-9]{4})[年년] ?([0-9]{1,2})[月월] ?([0-9]{1,2})[日号일]", r" \1-\2-\3 "),
    ("([0-9]{4})[年년] ?([0-9]{1,2})[月월]", r" in \1-\2 "),
    ("(?<![0-9])([0-9]{1,2})[月월] ?([0-9]{1,2})[日号일]", r" on month \1 day \2 "),
    ("(?<![0-9])([0-9]{1,2})[月월]", r" in month \1 "),
)


def to_english(text: str) -> str:
    """Put what a text says of times into English, and its white space into single blanks."""
    for pattern, english in _LATIN if text.isascii() else _LATIN + _ASIAN:
        text = re.sub(pattern, english, text, flags=re.IGNORECASE)
    return " ".join(text.split())


# Forms to show where a date was not understood.
EXAMPLES = ("2026-03-01", "2026-03", "7d", "yesterday", '"last march"', '"3 days ago"')
# No date takes more room; anything longer is not a date.
_MAX_CHARS = 60
# What seems older is a mistake, and the first of all years has no beginning in UTC.
_FIRST_YEAR = 1900
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# A day of the year that has none this year (29 February) has one within this many.
_YEARS_BACK = 8


class _Local(tzinfo):
    """The zone of the operating system, which `zoneinfo` could not name and takes time to load."""

    def utcoffset(self, moment: datetime | None, /) -> timedelta | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def dst(self, moment: datetime | None, /) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None, /) -> str | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, moment: datetime, /) -> datetime:
        there = moment.replace(tzinfo=UTC).astimezone()
        here = there.replace(tzinfo=self)
        return here if here.utcoffset() == there.utcoffset() else here.replace(fold=1)


LOCAL: tzinfo = _Local()


def span(text: str, now: datetime) -> Span | None:
    """Work out the whole stretch that the words name, or nothing where they name none.

    A time ago ("7d", "two weeks ago") names the day, the week, the month or the year in which it
    lies. A day or a month without a year is the latest that has begun, a weekday the latest before
    today, and "last march" the latest before this month. Weeks begin on Monday.
    """
    named = _read(text, now)
    return None if named is None else Span(start=_milliseconds(named.start), end=_milliseconds(named.end))


def moment(text: str, now: datetime) -> int | None:
    """Work out the moment from which `after:` counts and up to which `before:` does.

    It is the beginning of what the words name, so that `after:2026-03` includes March and
    `before:2026-03` does not; for a time ago it is that very moment.
    """
    named = _read(text, now)
    return None if named is None else _milliseconds(named.moment or named.start)


def mentioned(text: str, now: datetime) -> Period | None:
    """Find the dates that a question names in passing ("what did we decide in march").

    Only what can hardly mean anything else counts: names of months and weekdays after a word like
    "in", "last" or "since", or with a day or a year; whole dates in figures that are no part of a
    path or a name; no other numbers.
    """
    text = to_english(_one_line(text))
    found: list[tuple[int, Span]] = []

    def take(form: _Form, match: re.Match[str]) -> str:
        lead = match["lead"]
        is_led = lead is not None or match.groupdict().get("last") is not None
        named = _build(form, match, now) if is_led or form.in_passing == "free" else None
        if named is None:
            return match[0]
        found.append((match.start(), _towards(lead, named)))
        return ";" * len(match[0])

    for form in _forms_in(text):
        if form.in_passing != "never":
            pattern = rf"{_BEFORE}(?:(?P<lead>{_LEADS})[ -])?(?:the )?{form.pattern}{_AFTER}"
            text = re.sub(pattern, partial(take, form), text, flags=re.IGNORECASE)
    spans = dict.fromkeys(span for _, span in sorted(found, key=lambda one: one[0]))
    return Period(spans=tuple(spans)) if spans else None


class _Named(msgspec.Struct, frozen=True):
    """A stretch of time, and the moment that was meant where it is not its beginning."""

    start: datetime
    end: datetime
    moment: datetime | None = None


class _Form(msgspec.Struct, frozen=True):
    """A way to write a date: a pattern, what it means, and whether it counts in passing.

    It does so freely, only when led by a word like "in" or "last", or never. One of `words` is
    always there, and a figure where there are none: looking for them first saves most searches
    the 20 ms that compiling all patterns takes.
    """

    words: Collection[str]
    pattern: str
    build: Callable[[re.Match[str], datetime], _Named | None]
    in_passing: Literal["free", "led", "never"] = "free"


def _read(text: str, now: datetime) -> _Named | None:
    if len(text) > _MAX_CHARS:
        return None
    figures = _one_line(text).casefold()
    words = to_english(re.sub("[-_]", " ", figures))
    words = re.sub("^(?:(?:in|on|during|en|le) )?(?:the )?", "", words)
    for form in _forms_in(words):
        match = re.fullmatch(form.pattern, figures, re.IGNORECASE) or re.fullmatch(form.pattern, words, re.IGNORECASE)
        if match is not None:
            return _build(form, match, now)
    return None


def _one_line(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").split())


def _forms_in(text: str) -> list[_Form]:
    words = set(re.findall(r"[^\W\d_]+", text.casefold()))
    has_figures = any(character.isdecimal() for character in text)
    return [form for form in _FORMS if (not words.isdisjoint(form.words) if form.words else has_figures)]


def _build(form: _Form, match: re.Match[str], now: datetime) -> _Named | None:
    try:
        named = form.build(match, now)
    except (ValueError, OverflowError):  # 30 February, the year 0, ten thousand years ago
        return None
    return named if named is not None and named.start.year >= _FIRST_YEAR else None


def _towards(lead: str | None, named: _Named) -> Span:
    start, end = _milliseconds(named.start), _milliseconds(named.end)
    match (lead or "").casefold():
        case "since" | "after" | "depuis":
            return Span(start=start)
        case "before" | "until" | "avant":
            return Span(end=start)
        case _:
            return Span(start=start, end=end)


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def _iso_time(match: re.Match[str], now: datetime) -> _Named:
    """Name the minute or the second that is written in figures."""
    day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    at = datetime.combine(day, time(int(match["hour"]), int(match["minute"]), int(match["second"] or 0)))
    zone = match["zone"]
    start = at.replace(tzinfo=now.tzinfo) if zone is None else datetime.fromisoformat(f"{at.isoformat()}{zone.upper()}")
    return _instant(start, timedelta(seconds=1) if match["second"] else timedelta(minutes=1))


def _clock_time(match: re.Match[str], now: datetime) -> _Named:
    at = time(int(match["hour"]), int(match["minute"]), tzinfo=now.tzinfo)
    return _instant(datetime.combine(now.date(), at), timedelta(minutes=1))


def _instant(start: datetime, length: timedelta) -> _Named:
    # Two times of one zone are subtracted as clocks show them: only in UTC is an hour always an hour.
    start = start.astimezone(UTC)
    return _Named(start, start + length)


def _iso_date(match: re.Match[str], now: datetime) -> _Named:
    return _around("day", date(int(match["year"]), int(match["month"]), int(match["day"])), now)


def _year_and_month(match: re.Match[str], now: datetime) -> _Named:
    return _around("month", date(int(match["year"]), _number_of(match["month"], _MONTHS), 1), now)


def _year_alone(match: re.Match[str], now: datetime) -> _Named:
    return _around("year", date(int(match["year"]), 1, 1), now)


def _day_and_month(match: re.Match[str], now: datetime) -> _Named | None:
    """Name a day of the year given, or else the latest such day that has begun."""
    month, day = _number_of(match["month"], _MONTHS), int(match["day"])
    year = match.groupdict().get("year")
    if year is not None:
        return _around("day", date(int(year), month, day), now)
    for candidate in range(now.year, now.year - _YEARS_BACK - 1, -1):
        try:
            found = date(candidate, month, day)
        except ValueError:
            continue
        if found <= now.date():
            return _around("day", found, now)
    return None


def _month_alone(match: re.Match[str], now: datetime) -> _Named:
    month = _number_of(match["month"], _MONTHS)
    is_over = month < now.month or (month == now.month and not match.groupdict().get("last"))
    return _around("month", date(now.year if is_over else now.year - 1, month, 1), now)


def _weekday(match: re.Match[str], now: datetime) -> _Named:
    back = (now.weekday() - _WEEKDAYS[match["weekday"].casefold()]) % 7 or 7
    return _around("day", now.date() - timedelta(days=back), now)


def _relative_day(match: re.Match[str], now: datetime) -> _Named:
    return _around("day", now.date() + timedelta(days=_DAYS[match["day"].casefold()]), now)


def _relative_unit(match: re.Match[str], now: datetime) -> _Named:
    unit = match["unit"].casefold()
    current = _around(unit, now.date(), now)
    return current if match["which"].casefold() == "this" else _around(unit, _before(current.start), now)


def _ago(match: re.Match[str], now: datetime) -> _Named:
    moment, unit = _back(match, now)
    around = _around("day" if unit in ("hour", "minute") else unit, moment.date(), now)
    return _Named(around.start, around.end, moment)


def _rolling(match: re.Match[str], now: datetime) -> _Named:
    return _Named(_back(match, now)[0], now)


def _back(match: re.Match[str], now: datetime) -> tuple[datetime, str]:
    """Go back from now: by the clock for hours and minutes, by the calendar for all that is longer."""
    count = _number_of(match["count"], NUMBERS)
    unit = UNITS[match["unit"].casefold()]
    if unit in ("hour", "minute"):
        return (now.astimezone(UTC) - timedelta(**{f"{unit}s": count})).astimezone(now.tzinfo), unit
    if unit in ("day", "week"):
        return now - timedelta(**{f"{unit}s": count}), unit
    months = now.year * 12 + now.month - 1 - count * (12 if unit == "year" else 1)
    first = now.replace(year=months // 12, month=months % 12 + 1, day=1)
    return first.replace(day=min(now.day, _before(_around("month", first.date(), now).end).day)), unit


def _around(unit: str, day: date, now: datetime) -> _Named:
    """Name the day, week, month or year that holds a day, from one local midnight to another."""
    if unit == "day":
        first, next_first = day, day + timedelta(days=1)
    elif unit == "week":
        first = day - timedelta(days=day.weekday())
        next_first = first + timedelta(days=7)
    elif unit == "month":
        first = day.replace(day=1)
        next_first = (first + timedelta(days=31)).replace(day=1)
    else:
        first = date(day.year, 1, 1)
        next_first = date(day.year + 1, 1, 1)
    # A midnight that a change to summer time skips counts as the moment of that change.
    return _Named(*(datetime.combine(one, time(), tzinfo=now.tzinfo) for one in (first, next_first)))


def _before(midnight: datetime) -> date:
    return midnight.date() - timedelta(days=1)


def _number_of(word: str, names: dict[str, int]) -> int:
    return int(word) if word.isdecimal() else names[word.casefold()]


def _any_of(names: Iterable[str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_MONTHS = LONG_MONTHS | SHORT_MONTHS
_WEEKDAYS = LONG_WEEKDAYS | SHORT_WEEKDAYS
_DAYS = {"today": 0, "yesterday": -1, "day before yesterday": -2, "tomorrow": 1}

_LEADS = "in|on|since|during|of|from|until|before|after|around|between|early|mid|late|en|le|depuis|avant"
# What a date in passing must not touch, lest it be part of a path, a name or a number.
_BEFORE = r"(?<![\w/\\.:=@#$-])"
_AFTER = r"(?![\w/\\=@(-]|[.:,]\w)"

_DATE = r"(?P<year>\d{4})(?P<sign>[-/])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)"
_ZONE = r"(?P<zone>z|[+-]\d\d:?\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_LAST = r"(?:(?P<last>last) )?"
_AMOUNT = rf"(?P<count>\d{{1,4}}|{_any_of(NUMBERS)}) ?(?P<unit>{_any_of(UNITS)})"
_MONTH = rf"(?P<month>{_any_of(_MONTHS)})"
# Beside the number of a day, a month needs no more, but "may" and short names need their capital.
_DATED_MONTH = rf"(?P<month>{_any_of(LONG_MONTHS.keys() - {'may'})}|(?-i:{_any_of(map(str.title, SHORT_MONTHS))}))"
_CAPITAL_MONTH = rf"(?P<month>(?-i:{_any_of(map(str.title, CLEAR_MONTHS))}))"

# The first form that fits is taken, so the longer come first.
_FORMS = (
    _Form((), rf"{_DATE}[t ]{_CLOCK}(?::(?P<second>\d\d)(?:[.,]\d+)?)? ?{_ZONE}?", _iso_time, "never"),
    _Form((), rf"{_DATE}(?:[t ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:{_ZONE})?)?", _iso_date),
    _Form((), r"(?P<year>\d{4})[-/](?P<month>\d{1,2})", _year_and_month, "led"),
    # "in 2025?" is a year, "in 2025 lines" is not.
    _Form((), rf"{_YEAR}(?= ?(?:[?!.,;)]|$))", _year_alone, "led"),
    _Form((), _CLOCK, _clock_time, "never"),
    _Form(_MONTHS, rf"{_DAY} (?:of )?{_MONTH},? {_YEAR}", _day_and_month),
    _Form(_MONTHS, rf"{_MONTH} {_DAY},? {_YEAR}", _day_and_month),
    _Form(_MONTHS, rf"{_MONTH},? {_YEAR}", _year_and_month),
    _Form(_MONTHS, rf"{_DAY} (?:of )?{_DATED_MONTH}", _day_and_month),
    _Form(_MONTHS, rf"{_DATED_MONTH} {_DAY}", _day_and_month),
    _Form(_MONTHS, rf"{_DAY} (?:of )?{_MONTH}", _day_and_month, "led"),
    _Form(_MONTHS, rf"{_MONTH} {_DAY}", _day_and_month, "led"),
    _Form(("month",), r"month (?P<month>\d{1,2}) day (?P<day>\d{1,2})", _day_and_month, "led"),
    _Form(("month",), r"month (?P<month>\d{1,2})", _month_alone, "led"),
    _Form(("ago",), rf"{_AMOUNT} ago", _ago),
    _Form(UNITS, _AMOUNT, _ago, "never"),
    _Form(("last",), rf"last {_AMOUNT}", _rolling),
    _Form(("this", "last"), "(?P<which>this|last) (?P<unit>week|month|year)", _relative_unit),
    _Form(("yesterday", "today"), "(?P<day>day before yesterday|yesterday|today)", _relative_day),
    _Form(("tomorrow",), "(?P<day>tomorrow)", _relative_day, "never"),
    _Form(LONG_WEEKDAYS, rf"{_LAST}(?P<weekday>{_any_of(LONG_WEEKDAYS)})", _weekday, "led"),
    _Form(SHORT_WEEKDAYS, rf"{_LAST}(?P<weekday>{_any_of(SHORT_WEEKDAYS)})", _weekday, "never"),
    _Form(CLEAR_MONTHS, _CAPITAL_MONTH, _month_alone),
    _Form(LONG_MONTHS, rf"{_LAST}(?P<month>{_any_of(LONG_MONTHS)})", _month_alone, "led"),
    _Form(SHORT_MONTHS, rf"{_LAST}{_MONTH}", _month_alone, "never"),
)
