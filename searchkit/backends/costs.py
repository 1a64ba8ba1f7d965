"""What sessions cost, for every backend: out of the running totals that a client wrote down, or by the price of tokens.

A client writes its totals when it ends, and goes on with them when the session is reopened. Totals with another start
are of another run and add up. A fork that was started with the totals of its original has the same start: what these
were is subtracted, so that nothing is counted twice.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

import msgspec

from searchkit.backends.prices import Price, dollars, price_of
from searchkit.types import Cost, CostState, Figures, Grouping

# A session by whatever a backend calls it.
Key = str | int

# Sums of dollars that differ by less are the same sum.
_CENT_OF_A_CENT = 1e-4

# What a client counted for a session as a whole; none of it happened then and there.
_MONEY = frozenset({"cost", "estimated", "api_ms", "api_output"})


class Counted(msgspec.Struct, frozen=True, kw_only=True):
    """Some of the numbers of `Figures`, and of what they are; a day is one of the user's time zone."""

    numbers: Mapping[str, float]
    session: str | int | None
    day: str | None = None
    project: str | None = None
    model: str | None = None
    tool: str | None = None
    file: str | None = None
    # Whether the prompts of these responses were long ones, which may have another price.
    is_long: bool = False


class Said(NamedTuple):
    """A total that was written down: of which session, by key and id, on which line, behind which message."""

    session: Key
    id: str
    line: int
    leaf: object
    state: CostState


class Share(NamedTuple):
    """What came to the cost of a session between two totals; model and time are those of the client."""

    time: int | None
    usd: float = 0.0
    model: str | None = None
    is_estimate: bool = False
    api_ms: int = 0
    output: int = 0


class Spent(NamedTuple):
    """What a session cost by the totals of the client, share by share, and what it had inherited of these."""

    shares: Sequence[Share]
    inherited: float = 0.0


def decode(session: Key, id: str, line: int, leaf: object, value: str) -> Said | None:
    """Read a fact; None where it does not say what it should."""
    try:
        return Said(session, id, line, leaf, _DECODE(value))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def spent(said: Iterable[Said], holders: Callable[[object], Collection[Key]]) -> dict[Key, Spent]:
    """Return what each session cost; `holders` tells the sessions that hold a message."""
    runs: dict[int | None, dict[Key, list[Said]]] = defaultdict(lambda: defaultdict(list))
    for one in said:
        runs[one.state.started][one.session].append(one)
    found: dict[Key, Spent] = {}
    for started in sorted(runs, key=lambda started: started or 0):
        for session, totals in runs[started].items():
            others = [one for other, several in runs[started].items() if other != session for one in several]
            inherited = _inherited(totals, others, holders)
            shares: list[Share] = []
            # Without a start, totals that fell tell that another run began.
            for number, run in enumerate([totals] if started is not None else _falling(totals)):
                before = inherited.state if inherited is not None and not number else CostState(usd=0.0)
                shares += _shares(before, sorted(run, key=_order))
            known = found.get(session, Spent([]))
            usd = known.inherited + (inherited.state.usd if inherited else 0.0)
            found[session] = Spent([*known.shares, *shares], usd)
    return found


def priced(counted: Iterable[Counted], told: Collection[Key], prices: Mapping[str, Price]) -> Iterator[Counted]:
    """Give responses their cost: that of their record, or the price of their tokens; none where the client told all.

    Tokens that were written into the cache for an hour are among those written, and are told no further.
    """
    for one in counted:
        numbers = dict(one.numbers)
        if "responses" not in numbers:
            yield one
            continue
        has_tokens = any(numbers.get(name) for name in ("input", "output", "cache_read", "cache_write"))
        if one.session in told:
            numbers.pop("cost", None)
        elif "cost" not in numbers and has_tokens:
            price = price_of(one.model, prices)
            if price is None:
                numbers["unpriced"] = numbers["responses"]
            else:
                numbers["cost"] = numbers["estimated"] = dollars(price, numbers, one.is_long)
        numbers.pop("cache_write_1h", None)
        yield msgspec.structs.replace(one, numbers=numbers)


def counted(session: Key, project: str | None, shares: Iterable[Share]) -> Iterator[Counted]:
    """Tell shares as figures are told; they count on the day on which the run of the client ended."""
    for share in shares:
        day = None if share.time is None else str(datetime.fromtimestamp(share.time / 1000).date())
        numbers: dict[str, float] = {"cost": share.usd}
        if share.is_estimate:
            numbers["estimated"] = share.usd
        if share.api_ms or share.output:
            numbers |= {"api_ms": share.api_ms, "api_output": share.output}
        yield Counted(numbers=numbers, session=session, day=day, project=project, model=share.model)


def costs(rows: Iterable[Counted], known: Mapping[Key, Spent]) -> dict[Key, Cost]:
    """Add up what sessions cost; one of which nothing is known is left out."""
    sums: dict[Key, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for one in rows:
        if one.session is not None:
            numbers = sums[one.session]
            for name in ("cost", "estimated", "api_ms", "api_output", "unpriced"):
                if name in one.numbers:
                    numbers[name] += one.numbers[name]
    return {
        session: Cost(
            usd=numbers["cost"],
            # What has no price is missing from the sum.
            is_estimate="estimated" in numbers or "unpriced" in numbers,
            inherited=known[session].inherited if session in known else 0.0,
            api_ms=int(numbers.get("api_ms", 0)),
            output_per_second=_rate(numbers),
        )
        for session, numbers in sums.items()
        if "cost" in numbers
    }


def _order(one: Said) -> tuple[float, int, int, int, str]:
    """Sort totals as they were counted: nothing of them ever falls.

    The id decides between equals: a backend's key may depend on the order of reading.
    """
    state = one.state
    return state.usd, state.api_ms, state.duration_ms, state.output, one.id


def _inherited(
    totals: Sequence[Said], others: Iterable[Said], holders: Callable[[object], Collection[Key]]
) -> Said | None:
    """Find the total that a session began with: the last of another one whose message before it this one holds, too."""
    first = min(totals, key=_order)
    state = first.state
    return max(
        (
            one
            for one in others
            if one.leaf is not None
            and _order(one) < _order(first)
            and one.state.api_ms <= state.api_ms
            and one.state.duration_ms <= state.duration_ms
            and first.session in holders(one.leaf)
        ),
        key=_order,
        default=None,
    )


def _falling(totals: Iterable[Said]) -> list[list[Said]]:
    runs: list[list[Said]] = []
    for one in sorted(totals, key=lambda one: (one.line, *_order(one))):
        if not runs or one.state.usd < runs[-1][-1].state.usd:
            runs.append([])
        runs[-1].append(one)
    return runs


def _shares(before: CostState, run: Iterable[Said]) -> Iterator[Share]:
    for one in run:
        state = one.state
        models = {name: max(0.0, usd - before.models.get(name, 0.0)) for name, usd in state.models.items()}
        came = max(0.0, state.usd - before.usd)
        rest = came - sum(models.values())
        if rest < -_CENT_OF_A_CENT:
            # What models cost does not fit to the total, which holds.
            models, rest = {}, came
        is_estimate = state.has_unknown_model
        for name, usd in models.items():
            if usd:
                model = name.partition("[")[0]
                yield Share(state.time, usd, model, is_estimate)
        # The total is kept to the last digit: what is left is added even where it is next to nothing.
        yield Share(
            state.time,
            rest,
            is_estimate=is_estimate,
            api_ms=max(0, state.api_ms - before.api_ms),
            output=max(0, state.output - before.output),
        )
        before = state


def _rate(numbers: Mapping[str, float]) -> float | None:
    """Return tokens in a second."""
    passed, written = numbers.get("api_ms", 0), numbers.get("api_output", 0)
    return 1000 * written / passed if passed and written else None


_DECODE = msgspec.json.Decoder(CostState).decode


def tally(
    counted: Iterable[Counted], groupings: Sequence[Grouping], meant: int | None
) -> dict[Grouping, dict[str, Figures]]:
    """Add up what was counted; a session counts once for each label.

    In all there are as many sessions as are meant, also those without a message, unless a time is meant: then it
    is those in which something was counted.
    """
    sessions: dict[tuple[Grouping, str], set[object]] = defaultdict(set)
    sums: dict[tuple[Grouping, str], dict[str, float]] = defaultdict(dict)
    for one in counted:
        for by in groupings:
            if _concerns(one, by):
                key = by, _label(one, by) or ""
                if not one.numbers.keys() <= _MONEY:
                    sessions[key].add(one.session)
                numbers = sums[key]
                for name, number in one.numbers.items():
                    numbers[name] = numbers.get(name, 0) + number
    figures: dict[Grouping, dict[str, Figures]] = {by: {} for by in groupings}
    for (by, label), numbers in sums.items():
        is_known = by is Grouping.TOTAL and meant is not None
        held = {**numbers, "sessions": meant if is_known else len(sessions[by, label])}
        figures[by][label] = msgspec.convert(held, Figures)
    return figures


def _concerns(one: Counted, by: Grouping) -> bool:
    """Say whether something can have a label: prompts have no model, only calls have a tool.

    What was done to a file was counted as a call already.
    """
    if one.file is not None or by is Grouping.FILE:
        return one.file is not None and by is Grouping.FILE
    if by is Grouping.MODEL:
        # Of some of what a client counted, such as the time, it does not say which model it was.
        return "prompts" not in one.numbers and (one.model is not None or not one.numbers.keys() <= _MONEY)
    return by is not Grouping.TOOL or "calls" in one.numbers


def _label(one: Counted, by: Grouping) -> str | None:
    match by:
        case Grouping.DAY:
            return one.day
        case Grouping.WEEK:
            return _monday(one.day) if one.day else None
        case Grouping.MONTH:
            return one.day[:7] if one.day else None
        case Grouping.PROJECT:
            return one.project
        case Grouping.MODEL:
            return one.model
        case Grouping.TOOL:
            return one.tool
        case Grouping.FILE:
            return one.file
        case Grouping.TOTAL:
            return None


def _monday(day: str) -> str:
    """Name a week by its Monday."""
    there = date.fromisoformat(day)
    return str(there - timedelta(days=there.weekday()))
