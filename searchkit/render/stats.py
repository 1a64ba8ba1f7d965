"""Figures about one's own history, as people see them in a terminal."""

from collections.abc import Iterator, Mapping
from datetime import date, timedelta

import click

from searchkit.backends.prices import DATE
from searchkit.render.lines import bar, bars, columns, fitted, padded, sparkline
from searchkit.text.format import amount, count, money, seconds
from searchkit.text.sanitize import one_line
from searchkit.types import Figures, Grouping

# What the overview is made of.
OVERVIEW = (Grouping.DAY, Grouping.PROJECT, Grouping.MODEL, Grouping.TOOL)
# Lines of a list in it.
MOST_LISTED = 5
LABEL_WIDTH = 12
# The columns of a table, and the fewest columns of a terminal for its labels and its bars.
_HEADS = ("sessions", "prompts", "responses", "calls", "failed", "input", "output", "cost")
LEAST_LABEL = 10
LEAST_BAR = 5
# What has no label is called so.
_NAMELESS = {Grouping.PROJECT: "no project", Grouping.MODEL: "no model", Grouping.TOOL: "no tool"}
_TIMES = (Grouping.DAY, Grouping.WEEK, Grouping.MONTH)


def overview(total: Figures, groups: Mapping[Grouping, Mapping[str, Figures]], width: int) -> Iterator[str]:
    """Show the whole: how much, when, and by which projects, models and tools."""
    asked = f"{count(total.prompts, 'prompt')}, {count(total.responses, 'response')}"
    yield f"{'messages':{LABEL_WIDTH}}{asked} in {count(total.sessions, 'session')}"
    yield f"{'tools':{LABEL_WIDTH}}{count(total.calls, 'call')}, {_share(total)} of them failed"
    yield f"{'tokens':{LABEL_WIDTH}}{amount(total.input)} input, {amount(total.output)} output"
    yield f"{'cache':{LABEL_WIDTH}}{amount(total.cache_read)} read, {amount(total.cache_write)} written"
    if total.cost is not None or total.unpriced:
        yield f"{'cost':{LABEL_WIDTH}}{_cost(total)}"
    if total.api_ms:
        rate = f", {total.output_per_second:,.0f} tokens a second" if total.output_per_second else ""
        yield f"{'time':{LABEL_WIDTH}}{seconds(total.api_ms)} of the model's{rate}"
    days = {label: figures.prompts + figures.responses for label, figures in groups[Grouping.DAY].items() if label}
    if days:
        first, last = min(days), max(days)
        yield f"{'from':{LABEL_WIDTH}}{first} to {last}, {count(len(days), 'day')} with messages"
        yield ""
        yield click.style("messages a day", bold=True)
        yield sparkline(_every_day(days), width).rstrip()
    for by, name, title in (
        (Grouping.PROJECT, "responses", "responses by project"),
        (Grouping.MODEL, "responses", "responses by model"),
        (Grouping.TOOL, "calls", "calls by tool"),
    ):
        largest = ordered(groups[by], by)[:MOST_LISTED]
        numbers = {_label(by, label): getattr(figures, name) for label, figures in largest}
        if any(numbers.values()):
            yield ""
            more = len(groups[by]) - len(largest)
            yield click.style(title, bold=True) + (f" (and {more:,} more: --by {by.value})" if more else "")
            yield from bars(numbers, width)


def table(groups: Mapping[str, Figures], by: Grouping, limit: int, width: int) -> Iterator[str]:
    """Show a line for each label: its figures and, where there is room, a bar; of times the last ones."""
    everything = ordered(groups, by)
    chosen = everything[-limit:] if by in _TIMES else everything[:limit]
    cells = {label: _cells(figures, by) for label, figures in chosen}
    # What nobody has, such as a cost, takes no room.
    heads = [head for head in _HEADS if any(cells[label].get(head, "-") != "-" for label in cells)]
    rows = [[_label(by, label), *(cells[label].get(head, "-") for head in heads)] for label in cells]
    widths = [max(map(columns, column)) for column in zip([by.value, *heads], *rows, strict=True)]
    widths[0] = min(widths[0], max(LEAST_LABEL, width - sum(widths[1:]) - 2 * len(heads)))
    yield click.style(_row([by.value, *heads], widths), bold=True)
    room = width - sum(widths) - 2 * len(widths)
    most = max((_main(figures, by) for _, figures in chosen), default=0)
    for row, (_, figures) in zip(rows, chosen, strict=True):
        drawn = bar(_main(figures, by), most, room) if room >= LEAST_BAR else ""
        yield f"{_row(row, widths)}  {drawn}".rstrip()
    if len(everything) > len(chosen):
        yield f"and {len(everything) - len(chosen):,} more (--limit shows them)"


def ordered(groups: Mapping[str, Figures], by: Grouping) -> list[tuple[str, Figures]]:
    """Sort figures as they are shown: times in order, all else the largest first."""
    if by in _TIMES:
        return sorted(groups.items())
    return sorted(groups.items(), key=lambda item: (-_main(item[1], by), -item[1].sessions, item[0]))


def _main(figures: Figures, by: Grouping) -> int:
    """Choose the number that bars show."""
    return figures.calls if by in (Grouping.TOOL, Grouping.FILE) else figures.responses


def _cells(figures: Figures, by: Grouping) -> dict[str, str]:
    """Write what can be told apart by this grouping: prompts have no model, and only calls have a tool."""
    cells = {"sessions": f"{figures.sessions:,}", "calls": f"{figures.calls:,}", "failed": _share(figures)}
    if by is Grouping.FILE:
        return {"sessions": cells["sessions"], "calls": cells["calls"]}
    if by is Grouping.TOOL:
        return cells
    if by is not Grouping.MODEL:
        cells["prompts"] = f"{figures.prompts:,}"
    tokens = {"input": amount(figures.input), "output": amount(figures.output), "cost": _money(figures)}
    return cells | {"responses": f"{figures.responses:,}"} | tokens


def _row(cells: list[str], widths: list[int]) -> str:
    label, *numbers = cells
    shown = [padded(fitted(label, widths[0]), widths[0])]
    return "  ".join([*shown, *(f"{cell:>{width}}" for cell, width in zip(numbers, widths[1:], strict=True))])


def _label(by: Grouping, label: str) -> str:
    return one_line(label) or _NAMELESS.get(by, "no date")


def _share(figures: Figures) -> str:
    return f"{100 * figures.failed / figures.calls:.0f} %" if figures.calls else "-"


def _money(figures: Figures) -> str:
    return "-" if figures.cost is None else money(figures.cost, bool(figures.estimated or figures.unpriced))


def _cost(total: Figures) -> str:
    """Say what everything cost, how much of that is an estimate, and what is missing from it."""
    said = [_money(total) if total.cost is not None else "unknown"]
    if total.estimated:
        part = "" if total.estimated == total.cost else f"{money(total.estimated, is_estimate=True)} of it "
        said.append(f"{part}estimated by list prices of {DATE}")
    if total.unpriced:
        said.append(f"without {count(total.unpriced, 'response')} of models without a price")
    return ", ".join(said)


def _every_day(days: Mapping[str, int]) -> list[int]:
    """List the numbers of all days from the first to the last, those without any included."""
    first, last = date.fromisoformat(min(days)), date.fromisoformat(max(days))
    return [days.get(str(first + timedelta(days=number)), 0) for number in range((last - first).days + 1)]
