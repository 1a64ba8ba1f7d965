"""The line that a question is typed in: filters and their values are completed, and facets write into it."""

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Key
from textual.message import Message
from textual.suggester import Suggester
from textual.widgets import Input

from searchkit.query import dates
from searchkit.query.filters import ALIASES, BY_NAME, NAMES, Completion, Value, full_name
from searchkit.text.format import last_part
from searchkit.text.sanitize import one_line

Values = Callable[[str], Awaitable[Sequence[str]]]
# Values that are named below the line.
MOST_OFFERED = 12
# A filter is offered from so many letters on: a word of one is hardly the beginning of its name.
LEAST_LETTERS = 2
_CHUNK = re.compile(r'(?:[-+]?[\w-]+:)?"[^"]*"?|\S+')
_LAST = re.compile(r'(?P<sign>[-+]?)(?:(?P<name>[A-Za-z-]+):(?P<value>"[^"]*|[^\s"]*)|(?P<word>[A-Za-z][A-Za-z-]*))$')
# What a value may be without quotes.
_BARE = re.compile(r"[\w./@+][\w./@+:=%#-]*")


class QueryLine(Input):
    """The line; Tab completes what is typed last, and moves on where there is nothing to complete."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", "Complete", show=False),
        Binding("down,ctrl+n", "leave('move', 1)", "Down", show=False),
        Binding("up,ctrl+p", "leave('move', -1)", "Up", show=False),
        Binding("pagedown", "leave('page', 1)", "Page down", show=False),
        Binding("pageup", "leave('page', -1)", "Page up", show=False),
        Binding("ctrl+u", "delete_left_all", "Delete to the beginning", show=False),
    ]

    class Steered(Message):
        """A key was pressed that moves the list of results."""

        def __init__(self, action: str, by: int) -> None:
            """Say which way."""
            super().__init__()
            self.action, self.by = action, by

    class Completed(Message):
        """There is nothing to complete, so the next pane is wanted."""

    class Offered(Message):
        """What could be typed next has changed."""

        def __init__(self, offered: Sequence[str]) -> None:
            """Name what could be typed, the whole line each."""
            super().__init__()
            self.offered = offered

    def __init__(self, values: Values) -> None:
        """Complete values of filters with those that a function returns."""
        self.completer = Completer(values)
        super().__init__(id="query", placeholder="search", suggester=self.completer, select_on_focus=False)
        # What Tab has inserted last, and what it would insert next.
        self._inserted = ""
        self._next: list[str] = []

    async def action_complete(self) -> None:
        """Insert what is offered first; pressed again, the next."""
        if self.value and self.value == self._inserted and self._next:
            offered = self._next
        else:
            offered = list(await self.completer.offers(self.value)) if self.cursor_position == len(self.value) else []
        if not offered or offered == [self.value]:
            self.post_message(self.Completed())
            return
        first, *others = offered
        self._inserted, self._next = first, [*others, first] if others else []
        self.value = first
        self.cursor_position = len(first)
        self.post_message(self.Offered(offered))

    def action_leave(self, action: str, by: int) -> None:
        """Move the list without leaving the line."""
        self.post_message(self.Steered(action, by))

    def on_key(self, event: Key) -> None:
        """Forget the completions offered so far, because the text was edited."""
        if event.key != "tab":
            self._inserted = ""

    def toggle(self, name: str, value: str) -> None:
        """Add a filter to what is typed, or take it away where it is there."""
        self.value = toggled(self.value, name, value)
        self.cursor_position = len(self.value)


class Completer(Suggester):
    """Offers names of filters, and their values."""

    def __init__(self, values: Values) -> None:
        """Ask a function for what the index holds; it is asked once for each filter."""
        super().__init__(use_cache=False, case_sensitive=True)
        self._values = values
        self._held: dict[str, Sequence[str]] = {}

    async def get_suggestion(self, value: str) -> str | None:
        """Return the line as it would be with the first of what is offered."""
        offered = await self.offers(value)
        return offered[0] if offered else None

    async def offers(self, typed: str) -> list[str]:
        """Return the line as it would be with each thing that could be typed next; nothing within a word."""
        found = _LAST.search(typed)
        if found is None or (found.start() and not typed[found.start() - 1].isspace()):
            return []
        before = typed[: found.start()] + found["sign"]
        if found["word"]:
            word = found["word"].casefold()
            if len(word) < LEAST_LETTERS:
                return []
            names = [*NAMES, *ALIASES]
            return [f"{before}{name}:" for name in names if name.startswith(word)]
        name = full_name(found["name"])
        if name not in BY_NAME:
            return []
        asked = found["value"].lstrip('"').casefold()
        values = [one for one in await self._of(name) if one.casefold().startswith(asked)]
        return [f"{before}{found['name']}:{written(one)}" for one in values[:MOST_OFFERED]]

    async def _of(self, name: str) -> Sequence[str]:
        spec = BY_NAME[name]
        if spec.completion is Completion.CHOICES:
            return list(dict.fromkeys(spec.choices.values()))
        if spec.value is Value.DATE:
            return dates.EXAMPLES
        if spec.completion is not Completion.INDEXED:
            return ()
        if name not in self._held:
            held = await self._values(name)
            shown = (last_part(one) if name == "project" else one for one in held)
            self._held[name] = [one for one in dict.fromkeys(shown) if one and one == one_line(one) and '"' not in one]
        return self._held[name]


def written(value: str) -> str:
    """Write the value of a filter as it is typed."""
    return value if _BARE.fullmatch(value) else f'"{value}"'


def toggled(typed: str, name: str, value: str) -> str:
    """Take a filter out of what is typed, or add it at the end."""
    wanted = f"{name}:{written(value)}"
    chunks = list(_chunks(typed))
    kept = [one for one in chunks if one != wanted]
    return " ".join(kept if len(kept) < len(chunks) else [*chunks, wanted])


def has(typed: str, name: str, value: str) -> bool:
    """Whether a filter stands in what is typed."""
    return f"{name}:{written(value)}" in _chunks(typed)


def _chunks(typed: str) -> Iterator[str]:
    return (found[0] for found in _CHUNK.finditer(typed))
