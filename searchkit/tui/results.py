"""The list of results, or of the newest sessions while nothing is typed: a few lines each, moved through by keys."""

import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import ClassVar

import msgspec
from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.events import Click
from textual.message import Message

from searchkit.render.search import NEAR, excerpt, name_speaker
from searchkit.render.wire import search as searches
from searchkit.render.wire import sessions as listings
from searchkit.search.snippets import without_markdown
from searchkit.search.types import Passage
from searchkit.sources.apps import APPS, DEFAULT
from searchkit.text.format import age, count, day, last_part, money
from searchkit.text.sanitize import is_id, one_line
from searchkit.tui.lines import DIM, LineView, coloured, fitted, line, note
from searchkit.types import Kind, Role

UNTITLED = "(no title)"
# Lines of the passage that was found, and of what answers it.
PASSAGE_LINES, ANSWER_LINES = 2, 2
# Columns for the names of those who speak.
SPEAKER_WIDTH = 9
# Narrower than this, names would leave no room for what is said.
LEAST_FOR_SPEAKERS = 40
_VERBATIM = frozenset({Kind.TOOL_CALL, Kind.TOOL_RESULT})


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Who said what: a passage with the words that were asked for."""

    speaker: str
    passage: Passage
    is_error: bool = False


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """A result or a session as the list shows it; `id` is what the preview reads.

    A note stands before where and when it was, what else there is `about` it behind.
    """

    id: str
    session: str | None
    title: str | None
    project: str | None
    branch: str | None
    app: str
    time: int | None
    resume: str | None = None
    about: str = ""
    note: str = ""
    said: Sequence[Said] = ()

    @property
    def citation(self) -> str:
        """What leads back to it: for people where it was said, for programs the id."""
        name = last_part(self.project) if self.project else ""
        where = ", ".join(one for one in (self.title or "Session without a title", name, day(self.time)) if one)
        return one_line(where) + (f" (searchkit show {self.id})" if is_id(self.id) else "")


def of_result(found: searches.Result) -> Item:
    """Make an item of a result."""
    app = found.agent_app or DEFAULT
    kind, is_task = Kind(found.kind), bool(found.agent) or found.role != Role.USER
    passage = Passage(text=found.snippet, highlights=found.highlights)
    said = [
        Said(
            speaker=name_speaker(kind, found.tool, _app_name(app), is_task),
            passage=_plain(passage, kind),
            is_error=found.is_error,
        )
    ]
    if found.answer:
        answer = Passage(text=found.answer.text, highlights=found.answer.highlights)
        is_other = found.answer.part != found.part
        said.append(Said(speaker=_app_name(app) if is_other else "", passage=answer))
    return Item(
        id=found.uuid,
        session=found.session,
        title=found.title,
        project=found.project,
        branch=found.branch,
        app=app,
        time=_milliseconds(found.timestamp),
        resume=found.resume,
        note=NEAR if is_only_near(found) else "",
        said=said,
    )


def of_session(found: listings.Session) -> Item:
    """Make an item of a session."""
    cost = money(found.cost.usd, found.cost.is_estimate) if found.cost else ""
    about = [count(found.prompts, "prompt"), count(found.agents, "agent") if found.agents else "", cost]
    return Item(
        id=found.session,
        session=found.session,
        title=found.title,
        project=found.project,
        branch=found.branch,
        app=found.agent_app or DEFAULT,
        time=_milliseconds(found.ended),
        about=" · ".join(one for one in about if one),
    )


def is_only_near(found: searches.Result) -> bool:
    """Whether a result holds none of the words, and is near in meaning."""
    return bool(found.channels.semantic) and not found.channels.keyword


class Results(LineView):
    """The list; one of its items is chosen, and the preview shows it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("g,home", "move_to(0)", "First", show=False),
        Binding("G,end", "move_to(-1)", "Last", show=False),
        Binding("pagedown,ctrl+d,space", "page(1)", "Page down", show=False),
        Binding("pageup,ctrl+u,b", "page(-1)", "Page up", show=False),
    ]

    class Moved(Message):
        """Another item is chosen, or the items are others."""

    class Opened(Message):
        """An item was clicked that was chosen already."""

    def __init__(self, *, id: str = "results") -> None:
        """Show no items."""
        super().__init__(id=id)
        self.items: Sequence[Item] = ()
        self.number = 0
        self._why = ""
        # The first line of each item, and where the last one ends.
        self._begins: list[int] = [0]

    @property
    def chosen(self) -> Item | None:
        """The item that is chosen."""
        return self.items[self.number] if self.items else None

    def show(self, items: Sequence[Item], why_none: str = "") -> None:
        """Show other items and choose the first of them, or say why there are none."""
        self.items, self.number, self._why = items, 0, why_none
        self.update_lines()
        self.scroll_to(y=0, animate=False)
        self.post_message(self.Moved())

    def extend(self, items: Sequence[Item]) -> None:
        """Add items that follow those that are shown, which stay as they are."""
        if [one.id for one in items[: len(self.items)]] == [one.id for one in self.items]:
            self.items = [*self.items, *items[len(self.items) :]]
            LineView.update_lines(self)

    def lay_out(self) -> Iterable[Text]:
        """Lay every item out for the width."""
        self._begins = [0]
        if not self.items:
            return note(self._why, self.line_width)
        lines: list[Text] = []
        now = time.time()
        for item in self.items:
            lines += [_with_margin(one) for one in _lines(item, self.line_width - 2, now)]
            lines.append(line(""))
            self._begins.append(len(lines))
        return lines

    def update_lines(self) -> None:
        """Lay the items out, and keep the chosen one in sight."""
        super().update_lines()
        self.call_after_refresh(self._keep_in_sight)

    def style_of(self, number: int) -> Style | None:
        """Set the chosen item apart."""
        begin, end = self._begins[self.number : self.number + 2] if self.items else (0, 0)
        return Style(reverse=True) if number == begin < end else None

    def action_move(self, by: int) -> None:
        """Choose an item so far from the one that is chosen."""
        self.choose(self.number + by)

    def action_move_to(self, number: int) -> None:
        """Choose the first item or the last."""
        self.choose(number % len(self.items) if self.items else 0)

    def action_page(self, pages: int) -> None:
        """Choose an item a page away."""
        height = max(1, self._begins[-1] // max(1, len(self.items)))
        self.choose(self.number + pages * max(1, self.size.height // height))

    def choose(self, number: int) -> None:
        """Choose an item, within those there are."""
        number = max(0, min(len(self.items) - 1, number))
        if self.items and number != self.number:
            self.number = number
            self.refresh()
            self._keep_in_sight()
            self.post_message(self.Moved())

    def on_click(self, event: Click) -> None:
        """Choose the item that was clicked."""
        at = event.y + self.scroll_offset.y
        number = next((n for n, end in enumerate(self._begins[1:]) if at < end), None)
        if number is None:
            return
        if number == self.number:
            self.post_message(self.Opened())
        self.choose(number)

    def _keep_in_sight(self) -> None:
        if not self.items:
            return
        begin, end = self._begins[self.number], self._begins[self.number + 1]
        top, height = self.scroll_offset.y, self.size.height
        if begin < top or end - begin > height:
            self.scroll_to(y=begin, animate=False)
        elif end > top + height:
            self.scroll_to(y=end - height, animate=False)


def _lines(item: Item, width: int, now: float) -> Iterable[Text]:
    """Show the title, where and when it was, what was found, and what answers it."""
    yield fitted(line((one_line(item.title or UNTITLED), "bold")), width)
    yield fitted(line((_about(item, width, now), DIM)), width)
    taken = SPEAKER_WIDTH + 1 if width >= LEAST_FOR_SPEAKERS else 0
    for number, said in enumerate(item.said):
        name = fitted(line((said.speaker, "red" if said.is_error else "cyan")), SPEAKER_WIDTH)
        name.pad_right(SPEAKER_WIDTH + 1 - name.cell_len)
        shown = excerpt(said.passage, width - taken, ANSWER_LINES if number else PASSAGE_LINES)
        for row, text in enumerate(shown):
            margin = (name if row == 0 else line(" " * taken)) if taken else line()
            yield line() + margin + coloured(text)


def _about(item: Item, width: int, now: float) -> str:
    """Say where and when it was; how long ago, and on which branch, only where there is room."""
    project, branch = last_part(item.project) if item.project else "", item.branch or ""
    times = [f"{day(item.time)}, {age(item.time, now)}", day(item.time)] if item.time else [day(item.time)]
    tried = [*((project, branch, when, item.about) for when in times), (project, times[-1], item.about)]
    written = [" · ".join(one_line(one) for one in (item.note, *pieces) if one) for pieces in tried]
    return next((one for one in written if len(one) <= width), written[-1])


def _with_margin(text: Text) -> Text:
    return line(" ") + text


def _plain(passage: Passage, kind: Kind) -> Passage:
    return passage if kind in _VERBATIM else without_markdown(passage)


def _app_name(app: str) -> str:
    return (APPS.get(app) or APPS[DEFAULT]).name


def _milliseconds(timestamp: str | None) -> int | None:
    return int(datetime.fromisoformat(timestamp).timestamp() * 1000) if timestamp else None
