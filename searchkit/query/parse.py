"""Turns what was typed into a query: words, signs that say how to take them, and filters.

Nothing typed is an error. What looks like a sign or a filter and makes no sense as one is taken
for plain words, and the query notes it; only filters given as options must be right.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import zip_longest

import msgspec

from searchkit.errors import UsageError
from searchkit.query import dates
from searchkit.query.filters import ALIASES, FOREIGN_NAMES, NAMES, Given, combine, full_name, read, read_option, refusal
from searchkit.query.types import Clause, Condition, Filter, Match, Period, Query, Term, is_scan, may_scan
from searchkit.text.format import stamp
from searchkit.text.sanitize import clean

# A question is shorter; what is longer was pasted, with signs that nobody meant as such.
_MAX_TYPED_CHARS = 1_000
_MIN_PREFIX_CHARS = 2
# Of a pasted text, so much is looked at for signs that may have been meant, and so many words at either end are read:
# a logfile of a megabyte is no question, and a thousand different words decide.
_MAX_SIGNED_CHARS = 20_000
_MAX_PASTED_WORDS = 10_000
# Of a shorter word, too many others are but a letter away.
_MIN_FUZZY_CHARS = 4


def understand(
    text: str, *, now: datetime | None = None, filters: Iterable[tuple[str, str]] = (), is_pasted: bool = False
) -> Query:
    """Read a question and the filters given as options, of which a wrong one raises `UsageError`.

    Dates are in the time zone of `now`, which is here and now unless it is given. An option's value excludes with a
    leading `-`. A text of several lines, or a very long one, was pasted: all of it is words, as it is where that is
    said.
    """
    now = now or datetime.now(dates.LOCAL)
    text = _mended(text)
    options = [read_option(name, _mended(value), now) for name, value in filters]
    line = _CONTROL.sub(" ", clean(text)).strip()
    if is_pasted or _is_pasted(line):
        beginning = line[:_MAX_SIGNED_CHARS].splitlines()
        has_signs = not is_pasted and any(_has_signs(one, now) for one in beginning)
        words = line.split()
        is_cut = len(words) > _MAX_PASTED_WORDS
        read = words[: _MAX_PASTED_WORDS // 2] + words[-_MAX_PASTED_WORDS // 2 :] if is_cut else words
        return Query(
            text=text,
            clauses=tuple(map(_word, read)),
            condition=combine(options),
            notes=(*([_PASTED] if has_signs else []), *([_CUT.format(len(words))] if is_cut else [])),
        )
    found = _read(line, now)
    return Query(
        text=text,
        clauses=tuple(found.clauses),
        condition=combine([*found.given, *options]),
        period=dates.mentioned(" ".join(found.plain), now),
        notes=tuple(found.notes),
    )


def understood(words: str | Query, filters: Iterable[tuple[str, str]] = ()) -> Query:
    """Read a question, unless that was done already."""
    if not isinstance(words, Query):
        return understand(words, filters=filters)
    if tuple(filters):
        raise UsageError("a question that was understood has its filters already", "put them into its condition")
    return words


def filters(condition: Condition) -> dict[str, object]:
    """Write a condition as the object `filters` of our JSON: values by name, a `-` before what excludes.

    Times are in UTC. A period open at one end is `after` or `before`; any other is `on`, a list of
    pairs.
    """
    values: dict[str, list[str]] = {}
    for one in condition.filters:
        values.setdefault(_signed(one.name, one), []).extend(one.values)
    written: dict[str, object] = dict(values)
    for period in condition.periods:
        starts = [stamp(span.start) for span in period.spans if span.end is None]
        ends = [stamp(span.end) for span in period.spans if span.start is None]
        whole = [[stamp(span.start), stamp(span.end)] for span in period.spans if None not in (span.start, span.end)]
        for name, times in (("after", starts), ("before", ends)):
            if times:
                written[_signed(name, period)] = times if len(times) > 1 else times[0]
        if whole:
            written[_signed("on", period)] = whole
    return written


class _Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """What stands between blanks: as it was typed, and taken apart. `name` is that of a filter."""

    typed: str
    text: str
    sign: str = ""
    name: str = ""
    match: Match = Match.WORD


class _Found(msgspec.Struct, kw_only=True):
    """What a line has said so far; `plain` are the words that may name a date in passing.

    `scans` are the terms that go through all words of an index, and `unscanned` those that would have been too many.
    """

    clauses: list[Clause] = []
    scans: set[Term] = set()
    unscanned: list[str] = []
    given: list[Given] = []
    notes: list[str] = []
    plain: list[str] = []


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_PASTED = (
    "The text looks pasted, so all of it was read as words: signs and filters count in a single line "
    f"of at most {_MAX_TYPED_CHARS:,} characters."
)

_CUT = f"Of {{:,}} words the first and the last {_MAX_PASTED_WORDS // 2:,} were read."
_TOO_MANY_SCANS = (
    "Read as words: {}. So many prefixes, misspelt words and patterns, or so short ones, take too long together; "
    "leave some out, or write more letters of each."
)
# Signs that are named in a note; of more, only how many there are.
_MAX_NAMED = 3


def _mended(text: str) -> str:
    """Join the halves of characters, and replace lone ones, which no store could encode."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _is_pasted(text: str) -> bool:
    return len(text) > _MAX_TYPED_CHARS or len(text.splitlines()) > 1


def _has_signs(line: str, now: datetime) -> bool:
    found = _read(line, now)
    return bool(found.given) or [_word(word) for word in line.split()] != found.clauses


def _read(line: str, now: datetime) -> _Found:
    found = _Found()
    can_join = is_joining = False
    for chunk in _signed_by_words(list(_chunks(line))):
        if chunk.typed == "OR":
            is_joining = can_join
            continue
        clauses = _said(chunk, found, now)
        if is_joining and clauses and not clauses[0].is_excluded:
            clauses[0] = _either(found.clauses.pop(), clauses[0])
        found.clauses += clauses
        can_join = bool(clauses) and not clauses[-1].is_excluded
        is_joining = False
    if found.unscanned:
        named, others = found.unscanned[:_MAX_NAMED], len(found.unscanned) - _MAX_NAMED
        found.notes.append(_TOO_MANY_SCANS.format(", ".join(named) + (f" and {others} more" if others > 0 else "")))
    if not found.clauses and not found.given:
        # Nothing but "OR": somebody looks for the word.
        found.clauses += [_word(word) for word in line.split() if word in ("OR", "AND", "NOT")]
    return found


# "NOT NULL" and "file NOT FOUND" are texts in capitals; nobody excludes with them.
_CAPITALS = re.compile(r"[A-Z]{2,}[A-Z_\d]*\W*")


def _signed_by_words(chunks: list[_Chunk]) -> Iterator[_Chunk]:
    """Turn what follows `NOT` into what is excluded, and drop `AND`: all words are looked for anyway."""
    is_excluding = False
    for chunk, following in zip_longest(chunks, chunks[1:]):
        if chunk.typed == "NOT" and not (following and _CAPITALS.fullmatch(following.typed)):
            is_excluding = True
        elif chunk.typed != "AND":
            yield msgspec.structs.replace(chunk, sign="-") if is_excluding else chunk
            is_excluding = False


_NAME = rf"(?P<name>{'|'.join((*NAMES, *ALIASES))})"
# What opens and closes a phrase, in several languages.
_QUOTED = '"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」'
_QUOTED_CHUNK = re.compile(rf"(?P<sign>[-+]?)(?:{_NAME}:)?(?P<quoted>{_QUOTED})[,.;:!?)\]}}]*(?!\S)", re.IGNORECASE)
_FILTER_CHUNK = re.compile(rf"(?P<sign>[-+]?){_NAME}:(?P<value>(?!//)[^\s\"“„«「]\S*)", re.IGNORECASE)
_PATTERN_CHUNK = re.compile(r"(?P<sign>[-+]?)/(?P<pattern>(?!\s)(?:[^/\\]|\\.)+(?<!\s))/(?!\S)")
_CHUNK = re.compile(r"\S+")
# A single letter behind the sign is a flag of some command (`grep -i`), a figure makes a number.
_SIGNED = re.compile(r"(?P<sign>[-+])(?P<rest>[^\W\d]\S+|[^\W\d\x00-\x7f])")
_PREFIX = re.compile(r"(?P<stem>[^\s*]+\w)\*")
# HEAD~ is a commit.
_FUZZY = re.compile(rf"(?!\w*HEAD~)(?P<stem>\w{{{_MIN_FUZZY_CHARS},}})~")
# What makes a pattern of something between slashes. A full stop alone does not: paths have them.
_PATTERN_SIGN = re.compile(r"\\.|\[[^\]]+\]|\([^)]+\)|[\w.)\]][*+?]|[^|]\|[^|]|\{\d|^\^|\$$")


def _chunks(line: str) -> Iterator[_Chunk]:
    end = 0
    while (bare := _CHUNK.search(line, end)) is not None:
        start = bare.start()
        chunk = _quoted(line, start) or _pattern(line, start) or _filter_or_word(bare[0])
        end = start + len(chunk.typed)
        if chunk.text:
            yield chunk


def _quoted(line: str, start: int) -> _Chunk | None:
    found = _QUOTED_CHUNK.match(line, start)
    if found is None:
        return None
    name, text = full_name(found["name"] or ""), found["quoted"][1:-1].strip()
    if name and not text:
        return None
    return _Chunk(typed=found[0], text=text, sign=found["sign"], name=name, match=Match.PHRASE)


def _pattern(line: str, start: int) -> _Chunk | None:
    found = _PATTERN_CHUNK.match(line, start)
    if found is None or not _PATTERN_SIGN.search(found["pattern"]):
        return None
    # Slashes around several words are more often an accident than a wrong pattern.
    if not _CHUNK.fullmatch(found["pattern"]) and not _is_pattern(found["pattern"]):
        return None
    return _Chunk(typed=found[0], text=found["pattern"], sign=found["sign"], match=Match.REGEX)


def _filter_or_word(typed: str) -> _Chunk:
    asked = _FILTER_CHUNK.fullmatch(typed)
    value = asked["value"].rstrip(",;?!") if asked is not None else ""
    if asked is not None and value:
        return _Chunk(typed=typed, text=value, sign=asked["sign"], name=full_name(asked["name"]))
    signed = _SIGNED.fullmatch(typed)
    sign, text = (signed["sign"], signed["rest"]) if signed is not None else ("", typed)
    for expression, match in ((_PREFIX, Match.PREFIX), (_FUZZY, Match.FUZZY)):
        found = expression.fullmatch(text)
        # `.a*` is a letter, and half of all words begin with one of a few.
        if found is not None and sum(map(str.isalnum, found["stem"])) >= _MIN_PREFIX_CHARS:
            return _Chunk(typed=typed, text=found["stem"], sign=sign, match=match)
    return _Chunk(typed=typed, text=text, sign=sign)


def _said(chunk: _Chunk, found: _Found, now: datetime) -> list[Clause]:
    """Give the clauses that a chunk makes; a filter makes none and is put with what was found."""
    given = read(chunk.name, chunk.text, now, is_excluded=chunk.sign == "-") if chunk.name else None
    if given is not None:
        found.given.append(given)
        found.plain.append(_NO_WORD)
        return []
    reason = refusal(chunk.name) if chunk.name else ""
    if chunk.match is Match.REGEX:
        reason = _fault(chunk.text)
    if reason:
        found.notes.append(f"{chunk.typed} was read as words: it {reason}")
        found.plain.append(_NO_WORD)
        return [_word(word) for word in chunk.typed.split()]
    if chunk.match is Match.WORD and not chunk.sign and (likely := _likely(chunk.typed)):
        found.notes.append(f"{chunk.typed} was read as words: {likely}")
    if chunk.match is Match.WORD and (near := _nearest_filter(chunk.typed)):
        found.notes.append(f"{chunk.typed} was read as words: there is no such filter; did you mean {near}:?")
    is_required = chunk.sign == "+" or chunk.match in (Match.PHRASE, Match.REGEX)
    is_excluded = chunk.sign == "-"
    term = Term(text=chunk.text, match=chunk.match)
    if not may_scan(term, found.scans):
        found.unscanned.append(chunk.typed)
        term, is_required = Term(text=chunk.text), chunk.sign == "+"
    elif is_scan(term):
        found.scans.add(term)
    clause = Clause(terms=(term,), is_required=is_required and not is_excluded, is_excluded=is_excluded)
    found.plain.append(chunk.typed if clause == _word(chunk.typed) else _NO_WORD)
    return [clause]


_LETTER = re.compile(r"-(?P<letter>[A-Za-z])")
_OPEN_PATTERN = re.compile(r"[-+]?/[^/]+")
_OPEN_QUOTE = re.compile(r"[-+]?[\"“„«「][^\s\"”»」]*")


def _likely(typed: str) -> str:
    """Say what a word seems to be meant as, and why it was not read so; nothing of most words."""
    if letter := _LETTER.fullmatch(typed):
        return f"a single letter is the option of some command; to exclude it, type NOT {letter['letter']}"
    if _OPEN_PATTERN.fullmatch(typed) and _PATTERN_SIGN.search(typed):
        return "no / at its end closes the pattern"
    return "no quote at its end closes the phrase" if _OPEN_QUOTE.fullmatch(typed) else ""


# Not `std::move`, and not an address.
_LIKE_A_FILTER = re.compile(r"[-+]?(?P<name>[a-z][a-z-]{2,11}):(?![:/])\S+", re.IGNORECASE)
# `sesion` and `prject` are as near as this, `type` and `title` are not.
_NEAR = 0.8


def _nearest_filter(typed: str) -> str | None:
    """Return the filter that a word with a colon is nearly one of, or None."""
    found = _LIKE_A_FILTER.fullmatch(typed)
    if found is None:
        return None
    # Only needed where something may be misspelt.
    from difflib import get_close_matches

    name = found["name"].casefold()
    return FOREIGN_NAMES.get(name) or next(iter(get_close_matches(name, NAMES, 1, _NEAR)), None)


# Stands for what is no word, so that the words around it do not seem to follow each other.
_NO_WORD = '"'
# Python warns that it may read these otherwise one day, so we do not read them at all.
_NESTED_SET = re.compile(r"\[\^?\]?[^\]]*(?:\[|--|&&|~~|\|\|)")


# What takes more than one pass over a text, so that engines whose time is bounded do not have it.
_NOT_REGULAR = re.compile(r"\(\?(?:[=!>#(]|<[=!]|P=|[a-zA-Z]*a)|\\[0-9N]|[*+?}]\+")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]")
_STEP = re.compile(r"\{\d*,?(?P<times>\d*)\}|\\.|.", re.DOTALL)
# Rust's engine refuses `\w{1,1000}`, and `.{1,5000}x` takes a second for every 5,000 characters.
_MOST_STEPS = 5_000
_STEPS_OF_ALL_SCRIPTS = 10


def _fault(pattern: str) -> str:
    """Say why a pattern cannot be searched for, or nothing."""
    if not _is_pattern(pattern):
        return "is not a regular expression that can be read"
    bare = _CLASS.sub(lambda found: r"\w" if r"\w" in found[0].lower() else "x", pattern)
    if _NOT_REGULAR.search(re.sub(r"\\[^0-9N]", "x", bare)):
        return "looks around or back, which patterns cannot do here"
    return "repeats too much" if _steps(bare) > _MOST_STEPS else ""


def _steps(pattern: str) -> int:
    """Count the steps of a pattern with all its repetitions written out."""
    sums, last = [0], 0
    for step in _STEP.finditer(pattern):
        if step[0] == "(":
            sums.append(0)
            continue
        if step["times"] is not None:
            last *= max(0, int(step["times"] or re.sub(r"\D", "", step[0]) or 1) - 1)
        elif step[0] == ")" and len(sums) > 1:
            last = sums.pop()
        else:
            last = _STEPS_OF_ALL_SCRIPTS if step[0].lower() == r"\w" else 1
        sums[-1] += last
    return sum(sums)


def _is_pattern(text: str) -> bool:
    if _NESTED_SET.search(re.sub(r"\\.", "x", text)):
        return False
    try:
        re.compile(text)
    except (re.error, ValueError, OverflowError, RecursionError):
        return False
    return True


def _word(text: str) -> Clause:
    return Clause(terms=(Term(text=text),))


def _either(one: Clause, other: Clause) -> Clause:
    return Clause(terms=one.terms + other.terms, is_required=one.is_required and other.is_required)


def _signed(name: str, one: Filter | Period) -> str:
    return f"-{name}" if one.is_excluded else name
