"""The facets: how what matches is spread over projects, kinds and tools, each value a filter that can be toggled."""

from collections.abc import Iterable, Mapping
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from searchkit.query.filters import FILTERS
from searchkit.text.format import last_part
from searchkit.text.sanitize import one_line
from searchkit.tui.lines import DIM, LineView, fitted, line
from searchkit.tui.query_line import has

# The facets of the page, in its order.
NAMES = tuple(spec.name for spec in sorted((spec for spec in FILTERS if spec.panel), key=lambda spec: spec.panel))
# Values that are shown of each.
MOST_VALUES = 8


class Facets(LineView):
    """The panel; one value is chosen, and Enter or a click toggles it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("g,home", "move(-999)", "First", show=False),
        Binding("G,end", "move(999)", "Last", show=False),
        Binding("enter,space", "toggle_value", "Toggle", show=False),
    ]

    class Toggled(Message):
        """A value was toggled."""

        def __init__(self, name: str, value: str) -> None:
            """Name the filter."""
            super().__init__()
            self.name, self.value = name, value

    def __init__(self, *, id: str = "facets") -> None:
        """Show no values."""
        super().__init__(id=id)
        self._values: list[tuple[str, str, int]] = []
        self._typed = ""
        self._number = 0
        # The line of each value.
        self._places: list[int] = []

    def show(self, counts: Mapping[str, Mapping[str, int]], typed: str) -> None:
        """Show how often each value matches; those that are typed already are ticked."""
        chosen = self._values[self._number][:2] if self._values else None
        self._typed = typed
        self._values = [
            (name, _shown(name, value, counts[name]), number)
            for name in NAMES
            for value, number in list(counts.get(name, {}).items())[:MOST_VALUES]
            if value and value == one_line(value) and '"' not in value
        ]
        self._number = next((at for at, one in enumerate(self._values) if one[:2] == chosen), 0)
        self.update_lines()

    def lay_out(self) -> Iterable[Text]:
        """Lay the values out below the names of their filters."""
        lines: list[Text] = []
        self._places, heading = [], ""
        for name, value, number in self._values:
            if name != heading:
                heading = name
                lines += [*([line()] if lines else []), line((f" {name}", "bold"))]
            tick = "[x]" if has(self._typed, name, value) else "[ ]"
            told = f" {number:,}"
            shown = fitted(line(f" {tick} {value}"), self.line_width - len(told) - 1)
            shown.pad_right(max(0, self.line_width - len(told) - 1 - shown.cell_len))
            self._places.append(len(lines))
            lines.append(shown + line((told, DIM)))
        return lines or [line((" nothing to count", DIM))]

    def style_of(self, number: int) -> Style | None:
        """Set the chosen value apart while the panel has the keys."""
        is_chosen = self.has_focus and self._places and self._places[self._number] == number
        return Style(reverse=True) if is_chosen else None

    def action_move(self, by: int) -> None:
        """Choose another value."""
        if self._places:
            self._number = max(0, min(len(self._places) - 1, self._number + by))
            at = self._places[self._number]
            top, height = self.scroll_offset.y, self.size.height
            if not top <= at < top + height:
                self.scroll_to(y=max(0, at - height // 2), animate=False)
            self.refresh()

    def action_toggle_value(self) -> None:
        """Toggle the chosen value."""
        if self._values:
            name, value, _ = self._values[self._number]
            self.post_message(self.Toggled(name, value))

    def on_focus(self) -> None:
        """Show which value is chosen."""
        self.refresh()

    def on_blur(self) -> None:
        """Show it no more."""
        self.refresh()

    def on_click(self, event: Click) -> None:
        """Toggle the value that was clicked."""
        at = event.y + self.scroll_offset.y
        if at in self._places:
            self._number = self._places.index(at)
            self.action_toggle_value()


def _shown(name: str, value: str, counts: Mapping[str, int]) -> str:
    """Return what is typed for a value: of a project the last part of its path, unless another has the same."""
    if name != "project":
        return value
    short = last_part(value)
    return short if sum(last_part(one) == short for one in counts) == 1 else value
