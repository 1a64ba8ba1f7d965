"""Finds parts by looking at all of them: what a query means, said plainly, and no ranking to copy."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from searchkit.backends.base import Found, Hit, Order, Stored
from searchkit.query.filters import BY_NAME, Level, is_met, is_time_met
from searchkit.query.types import Clause, Condition, Match, Query, Term
from searchkit.types import Kind
from tests.reference import sessions as telling
from tests.reference.census import Held

_WORD = re.compile(r"[^\W_]+")
_DATES = {"month": "%Y-%m", "day": "%Y-%m-%d"}


def find(
    parts: Iterable[tuple[int, Stored]],
    positions: Mapping[int, int],
    held: Held,
    query: Query,
    limit: int,
    order: Order,
) -> Found:
    """Return the parts that hold most of what is asked for."""
    total, hits, hidden = 0, [], 0
    wanted = [clause for clause in query.clauses if not clause.is_excluded]
    for key, stored in parts:
        if stored.repeats is not None or not _is_wanted(query.clauses, stored.part.text):
            continue
        if not is_meant(query.condition, stored, held):
            hidden += 1
            continue
        total += 1
        share = sum(_holds(clause, stored.part.text) for clause in wanted) / len(wanted) if wanted else 1.0
        hits.append(_hit(key, positions[key], stored, share))
    if order is Order.RELEVANCE and wanted:
        hits.sort(key=lambda hit: (-hit.score, -(hit.time or 0), hit.position))
    else:
        hits.sort(key=lambda hit: (hit.time or 0) * (1 if order is Order.OLDEST else -1))
    return Found(hits=hits[:limit], total=total, hidden=0 if hits else hidden)


def counted(parts: Iterable[Stored], held: Held, name: str) -> dict[str, int]:
    """Count parts by a value of theirs, the most frequent first; months and days in order."""
    total: Counter[str] = Counter()
    for stored in parts:
        total.update(_counted_as(name, stored, held))
    if name in _DATES:
        return dict(sorted(total.items()))
    return dict(sorted(total.items(), key=lambda item: (-item[1], item[0])))


def is_meant(condition: Condition, stored: Stored, held: Held) -> bool:
    """Say whether all filters and periods hold for a part."""
    return all(is_met(one, _values(one.name, stored, held)) for one in condition.filters) and all(
        is_time_met(period, stored.link.time, stored.link.time) for period in condition.periods
    )


def _counted_as(name: str, stored: Stored, held: Held) -> Iterator[str]:
    """Yield what a part counts as: the session where it lives tells its project and title."""
    home, time = stored.link.places[0], stored.link.time
    if name in _DATES:
        yield from [datetime.fromtimestamp(time / 1000).strftime(_DATES[name])] if time else []
    elif name == "session":
        yield from [home.session] if home.session else []
    elif name == "agent":
        yield from [home.agent] if home.agent else []
    elif BY_NAME[name].level is not Level.SESSION:
        yield from _values(name, stored, held)
    elif home.session and name == "title":
        yield from filter(None, [telling.session(held, home.session, held.spans[home.session]).title])
    elif home.session or BY_NAME[name].absent:
        facts = [fact for fact in held.facts if fact.session == home.session]
        yield from filter(None, [telling.latest(facts, BY_NAME[name].fact) or BY_NAME[name].absent])


def _values(name: str, stored: Stored, held: Held) -> Iterator[str]:
    """Yield what a part has of the thing that a filter asks for."""
    link, part = stored.link, stored.part
    home, spec = link.places[0], BY_NAME[name]
    direct: dict[str, str | None] = {
        "tool": part.tool,
        "kind": part.kind.value,
        "role": part.role.value,
        "language": part.language,
        "agent": home.agent,
    }
    if direct.get(name):
        yield direct[name] or ""
    if spec.context:
        yield from filter(None, [getattr(link.context, spec.context)])
    if spec.level is Level.SESSION:
        for session in {place.session for place in link.places if place.session}:
            yield from telling.values_of(held, name, session)
    if name == "project" and home.session is None and link.context.cwd:
        yield link.context.cwd
    if name == "agent":
        facts = (fact for fact in held.facts if fact.session == home.session and fact.agent == home.agent)
        yield from (fact.value for fact in facts if fact.name == "agent-type")
    if name == "file":
        yield from _touched(stored, held)
    if name == "is":
        states = {"error": part.is_error, "sidechain": link.is_sidechain, "summary": part.kind is Kind.SUMMARY}
        yield from (state for state, holds in states.items() if holds)


def _touched(stored: Stored, held: Held) -> Iterator[str]:
    """Yield the files that a record touched, or the call whose result it holds."""
    for sightings in held.records:
        for seen in sightings:
            calls = {block.call for block in seen.record.blocks if block.call}
            if seen.record.uuid == stored.link.uuid or stored.part.call in calls:
                yield from (touch.path for touch in seen.record.touches)


def _is_wanted(clauses: Iterable[Clause], text: str) -> bool:
    """Say whether a text holds all that is required, nothing that is excluded, and anything at all."""
    several = list(clauses)
    if any(_holds(clause, text) for clause in several if clause.is_excluded):
        return False
    asked = [clause for clause in several if not clause.is_excluded]
    required = [clause for clause in asked if clause.is_required]
    if required:
        return all(_holds(clause, text) for clause in required)
    return not asked or any(_holds(clause, text) for clause in asked)


def _holds(clause: Clause, text: str) -> bool:
    """Say whether a text holds any of the terms; a chunk such as `a.b` is one thing where it is not plain."""
    is_plain = len(clause.terms) == 1 and not clause.is_required and not clause.is_excluded
    return any(_has(term, words(text), text, is_plain) for term in clause.terms)


def _has(term: Term, held: list[str], text: str, is_plain: bool) -> bool:
    asked = words(term.text)
    if term.match is Match.PREFIX:
        return bool(asked) and any(word.startswith(asked[-1]) for word in held)
    if term.match is Match.REGEX:
        return any(re.search(term.text, one, re.IGNORECASE | re.MULTILINE) for one in (text, _bare(text)))
    if term.match is Match.FUZZY:
        return any(_is_near(asked[0], word) for word in held) if asked else False
    if term.match is Match.PHRASE or not is_plain:
        return any(held[at : at + len(asked)] == asked for at in range(len(held)))
    return any(word in held for word in asked)


def words(text: str) -> list[str]:
    """Return the words of a text, without case and accents."""
    return _WORD.findall(_bare(text).lower())


def _bare(text: str) -> str:
    """Take the accents off."""
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def _is_near(one: str, other: str) -> bool:
    """Say whether two words differ in one letter, or in two that changed places."""
    if abs(len(one) - len(other)) > 1:
        return False
    for at, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            swapped = one[at + 1 : at + 2] + a + one[at + 2 :]
            return (
                other[at:] == swapped or one[at + 1 :] in (other[at:], other[at + 1 :]) or one[at:] == other[at + 1 :]
            )
    return True


def _hit(key: int, position: int, stored: Stored, share: float) -> Hit:
    home = stored.link.places[0]
    return Hit(
        key=key,
        position=position,
        kind=stored.part.kind,
        session=hash(home.session) if home.session else 0,
        time=stored.link.time,
        is_agents=home.agent is not None,
        score=share,
        coverage=share,
    )
