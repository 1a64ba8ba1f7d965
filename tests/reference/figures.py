"""Figures over what the memory backend keeps."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from searchkit.backends.costs import Counted, Key, Spent, decode, priced, spent, tally
from searchkit.backends.costs import costs as add_up
from searchkit.backends.costs import counted as of_shares
from searchkit.backends.prices import LONG_PROMPT, Price
from searchkit.query.filters import is_met, is_then
from searchkit.query.types import Condition
from searchkit.types import COST_STATE, Cost, Figures, Grouping, Kind, Link, Standing
from tests.reference.census import Held, responses
from tests.reference.sessions import sessions

Numbers = Mapping[str, float]


def figures(
    held: Held, condition: Condition, groupings: Sequence[Grouping], prices: Mapping[str, Price]
) -> dict[Grouping, dict[str, Figures]]:
    """Return figures by label, for each of these groupings."""
    meant = None if condition.periods else len(sessions(held, condition))
    told = _told(held)
    counted = priced(_counted(held, condition), told, prices)
    return tally((*counted, *_shares(held, condition, told), *_touches(held, condition)), groupings, meant)


def costs(held: Held, ids: Sequence[str], prices: Mapping[str, Price]) -> dict[str, Cost]:
    """Return what sessions cost."""
    told, everything = _told(held), Condition()
    found = add_up((*priced(_counted(held, everything), told, prices), *_shares(held, everything, told)), told)
    return {str(session): cost for session, cost in found.items() if session in ids}


def _told(held: Held) -> dict[Key, Spent]:
    """Return what sessions cost as the client counted it."""
    holders: dict[object, set[Key]] = {}
    for sighting in (sighting for sightings in held.records for sighting in sightings):
        holders.setdefault(sighting.record.uuid, set()).add(sighting.session or "")
    facts = [fact for fact in held.facts if fact.name == COST_STATE]
    said = [decode(fact.session, fact.session, fact.line, fact.leaf, fact.value) for fact in facts]
    return spent([one for one in said if one is not None], lambda uuid: holders.get(uuid, set()))


def _shares(held: Held, condition: Condition, told: Mapping[Key, Spent]) -> Iterator[Counted]:
    for session in sessions(held, Condition(filters=condition.filters)):
        one = told.get(session.id, Spent([]))
        shares = [share for share in one.shares if is_then(condition, share.time)]
        for row in of_shares(session.id, session.project, shares):
            if _is_wanted(condition, model=row.model):
                yield row


def _counted(held: Held, condition: Condition) -> Iterator[Counted]:
    chosen = {session.id: session.project for session in sessions(held, Condition(filters=condition.filters))}
    for link, tool, numbers in (*_prompts(held), *_calls(held, condition), *_responses(held, condition)):
        session = link.places[0].session
        # What belongs to no session counts, too, unless sessions are chosen.
        is_meant = session in chosen if session is not None else not condition.filters
        if is_meant and is_then(condition, link.time):
            project = chosen.get(session or "")
            day = None if link.time is None else str(datetime.fromtimestamp(link.time / 1000).date())
            model = link.context.model
            is_long = sum(numbers.get(name, 0) for name in ("input", "cache_read", "cache_write")) > LONG_PROMPT
            yield Counted(
                numbers=numbers, session=session, day=day, project=project, model=model, tool=tool, is_long=is_long
            )


def _touches(held: Held, condition: Condition) -> Iterator[Counted]:
    """Yield what was done to files, each file once for a record."""
    chosen = {session.id for session in sessions(held, Condition(filters=condition.filters))}
    links = {holding.link.uuid: holding.link for holding in held.holdings}
    paths: dict[str, set[str]] = {}
    for record in (sighting.record for sightings in held.records for sighting in sightings):
        paths.setdefault(record.uuid, set()).update(touch.path for touch in record.touches)
    for uuid, touched in paths.items():
        link = links[uuid]
        session = link.places[0].session
        is_meant = session in chosen if session is not None else not condition.filters
        if is_meant and is_then(condition, link.time) and _is_wanted(condition, model=link.context.model):
            yield from (Counted(numbers={"calls": 1}, session=session, file=path) for path in sorted(touched))


def _prompts(held: Held) -> Iterator[tuple[Link, None, Numbers]]:
    """Yield what was typed. A state such as the last prompt, or a side file, only tells it again."""
    for item in (item for holding in held.holdings for item in holding.parts if item.repeats is None):
        is_typed = item.part.kind is Kind.PROMPT and item.link.standing < Standing.STATE
        if is_typed and item.link.places[0].agent is None:
            yield item.link, None, {"prompts": 1}


def _calls(held: Held, condition: Condition) -> Iterator[tuple[Link, str | None, Numbers]]:
    parts = [item for holding in held.holdings for item in holding.parts]
    failed = {item.part.call for item in parts if item.part.kind is Kind.TOOL_RESULT and item.part.is_error} - {None}
    for item in parts:
        tool, model = item.part.tool, item.link.context.model
        is_call = item.part.kind is Kind.TOOL_CALL and item.repeats is None
        if is_call and _is_wanted(condition, model=model, tool=tool):
            yield item.link, tool, {"calls": 1, "failed": int(item.part.call in failed)}


def _responses(held: Held, condition: Condition) -> Iterator[tuple[Link, None, Numbers]]:
    """Yield each response once, with the record of the smallest uuid that tells of it."""
    links = {holding.link.uuid: holding.link for holding in held.holdings}
    told: dict[str, list[str]] = {}
    for record in (sighting.record for sightings in held.records for sighting in sightings):
        if record.response is not None and record.usage is not None:
            told.setdefault(record.response, []).append(record.uuid)
    for response, usage in responses(held.records).items():
        link = links[min(told[response])]
        tokens = {"input": usage.input, "output": usage.output, "cache_read": usage.cache_read}
        cost = {} if usage.cost is None else {"cost": usage.cost}
        if _is_wanted(condition, model=link.context.model):
            written = {"cache_write": usage.cache_write, "cache_write_1h": usage.cache_write_1h}
            yield link, None, {"responses": 1, **tokens, **written, **cost}


def _is_wanted(condition: Condition, **values: str | None) -> bool:
    """Say whether what a model or a tool did is wanted."""
    asked = [filter for filter in condition.filters if filter.name in values]
    return all(is_met(filter, [value] if (value := values[filter.name]) else []) for filter in asked)
