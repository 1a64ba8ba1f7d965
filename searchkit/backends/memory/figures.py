"""Figures over what the memory backend keeps."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta

from searchkit.backends.memory.census import Held, responses
from searchkit.backends.memory.held import ranked
from searchkit.backends.memory.sessions import sessions
from searchkit.backends.tally import tally
from searchkit.conditions import is_met, within
from searchkit.questions import Condition
from searchkit.types import Figures, Grouping, Kind, Link, Standing


def figures(held: Held, condition: Condition, by: Grouping) -> dict[str, Figures]:
    """Return figures by label; what has none is under the empty one."""
    chosen = {session.id: session for session in sessions(held, Condition(filters=condition.filters))}
    is_counted = {name for name in (*chosen, None) if name is not None or not condition.filters}
    labelled = []
    for link, tool, numbers in _counted(held, condition, by):
        session = link.places[0].session
        if session in is_counted and _is_then(condition, link.time):
            project = chosen[session].project if session else None
            label = {Grouping.PROJECT: project, Grouping.MODEL: link.context.model, Grouping.TOOL: tool}
            labelled.append((label.get(by, _time_label(by, link.time)) or "", session, numbers))
    return tally(labelled)


def _counted(held: Held, condition: Condition, by: Grouping) -> Iterator[tuple[Link, str | None, Mapping[str, float]]]:
    """Yield what counts, with its record and its tool."""
    parts = [part for holding in held.holdings for part in holding.parts]
    failed = {item.part.call for item in parts if item.part.kind is Kind.TOOL_RESULT and item.part.is_error}
    for item in parts:
        link, tool, model = item.link, item.part.tool, item.link.context.model
        if item.repeats is not None:
            continue
        if item.part.kind is Kind.PROMPT:
            # A state such as the last prompt, or a side file, only tells again what was typed.
            is_typed = link.places[0].agent is None and link.standing < Standing.STATE
            if is_typed and by not in (Grouping.MODEL, Grouping.TOOL):
                yield link, None, {"prompts": 1}
        elif item.part.kind is Kind.TOOL_CALL and _is_wanted(condition, model=model, tool=tool):
            has_failed = item.part.call is not None and item.part.call in failed
            yield link, tool, {"calls": 1, "failed": int(has_failed)}
    if by is not Grouping.TOOL:
        for link, numbers in _responses(held):
            if _is_wanted(condition, model=link.context.model):
                yield link, None, numbers


def _responses(held: Held) -> Iterator[tuple[Link, Mapping[str, float]]]:
    """Yield each response once, with the record of the smallest uuid that tells of it."""
    links = {holding.link.uuid: holding.link for holding in held.holdings}
    told: dict[str, list[str]] = {}
    for sightings in held.records:
        for sighting in sightings:
            if sighting.record.response is not None and sighting.record.usage is not None:
                told.setdefault(sighting.record.response, []).append(ranked(sightings)[0].record.uuid)
    for response, usage in responses(held.records).items():
        tokens = {"input": usage.input, "output": usage.output, "cache_read": usage.cache_read}
        cost = {} if usage.cost is None else {"cost": usage.cost}
        yield links[min(told[response])], {"responses": 1, **tokens, "cache_write": usage.cache_write, **cost}


def _is_wanted(condition: Condition, **values: str | None) -> bool:
    """Say whether what a model or a tool did is wanted."""
    asked = [filter for filter in condition.filters if filter.name in values]
    return all(is_met(filter, [value] if (value := values[filter.name]) else []) for filter in asked)


def _is_then(condition: Condition, time: int | None) -> bool:
    return all(period.is_excluded != any(within(span, time) for span in period.spans) for period in condition.periods)


def _time_label(by: Grouping, time: int | None) -> str | None:
    if time is None or by not in (Grouping.DAY, Grouping.WEEK, Grouping.MONTH):
        return None
    moment = datetime.fromtimestamp(time / 1000)
    if by is Grouping.WEEK:
        moment -= timedelta(days=moment.weekday())
    return moment.strftime("%Y-%m" if by is Grouping.MONTH else "%Y-%m-%d")
