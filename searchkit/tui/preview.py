"""The conversation around a hit: rows laid out as lines, the hit in sight, and a way from hit to hit."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType

from searchkit.conversation.types import Reason
from searchkit.render import wording
from searchkit.render.search import name_speaker
from searchkit.sources.apps import APPS, DEFAULT
from searchkit.text.format import count, last_part
from searchkit.text.sanitize import one_line, safe
from searchkit.tui.lines import DIM, TAB, LineView, fitted, line, marked, note, wrapped
from searchkit.types import Kind, Role
from searchkit.web.conversation_api import Reading
from searchkit.web.row_json import Code, Command, Diff, Row
from searchkit.web.row_json import Text as PlainText

# Lines that are shown of the row that was found, of what people and programs say to each other, and of all else.
MOST_LINES_OF_HIT, MOST_LINES_SAID, MOST_LINES = 80, 24, 8
# Of the lines above the hit, the share of the screen that they take.
LEAD_SHARE = 0.3
MARGIN = 2
_SAID = frozenset({Kind.PROMPT, Kind.TEXT, Kind.SUMMARY, Kind.PLAN, Kind.COMMAND})
_SIGNS = {"+": Style(color="green"), "-": Style(color="red"), "@": DIM}
_FENCES = ("```", "~~~")


class Preview(LineView):
    """Shows some rows of a conversation."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_down", "Down", show=False),
        Binding("up,k", "scroll_up", "Up", show=False),
        Binding("pagedown,ctrl+d,space", "page_down", "Page down", show=False),
        Binding("pageup,ctrl+u,b", "page_up", "Page up", show=False),
        Binding("g,home", "scroll_home", "Beginning", show=False),
        Binding("G,end", "scroll_end", "End", show=False),
        Binding("n", "hit(1)", "Next hit", show=False),
        Binding("N", "hit(-1)", "Previous hit", show=False),
    ]

    def __init__(self, *, id: str = "preview") -> None:
        """Show nothing."""
        super().__init__(id=id)
        self.reading: Reading | None = None
        self._note = ""
        # Lines on which the row that was asked for begins, and all rows that answer the question.
        self._here = 0
        self._hits: list[int] = []
        # The line that each row begins on.
        self._begins: list[int] = []
        self._was_shown = False

    def show(self, reading: Reading) -> None:
        """Show a conversation, the row that was asked for in sight."""
        self.reading, self._note = reading, ""
        self.update_lines()
        self._go_to(self._here)

    def say(self, note: str) -> None:
        """Say something instead of showing a conversation."""
        self.reading, self._note = None, note
        self.update_lines()
        self.scroll_to(y=0, animate=False)

    def on_resize(self) -> None:
        """Lay the rows out for another width, with the same row in sight; at first that is the one asked for."""
        if self.line_width == self._width and self._was_shown:
            return
        top = bisect_right(self._begins, self.scroll_offset.y) - 1
        self.update_lines()
        if not self._was_shown:
            self._go_to(self._here)
        elif self._begins:
            self.scroll_to(y=self._begins[max(0, top)], animate=False)
        self._was_shown = self.size.height > 0

    def lay_out(self) -> Iterable[Text]:
        """Lay the rows out for the width."""
        width = self.line_width - 1
        if self.reading is None:
            return note(self._note, width)
        lines: list[Text] = []
        self._here, self._hits, self._begins = 0, [], []
        for number, row in enumerate(self.reading.rows, self.reading.begin):
            self._begins.append(len(lines))
            is_here = number == self.reading.here
            if is_here:
                self._here = len(lines)
            if number in self.reading.hits:
                self._hits.append(len(lines))
            lines += [line(" ") + one for one in _row(row, width - 1, is_here, self.reading.agent_app or DEFAULT)]
            lines.append(line())
        later = self.reading.total - self.reading.begin - len(self.reading.rows)
        if later > 0:
            lines.append(line((f" {count(later, 'row')} follow: o opens all of it on the page", DIM)))
        return lines

    def heading(self) -> Text:
        """Return the title of the conversation, and where it was."""
        if self.reading is None:
            return line()
        found = self.reading
        project = last_part(found.project) if found.project else ""
        gone = "transcript gone" if found.is_gone else ""
        about = " · ".join(
            one_line(one) for one in (project, found.branch or "", (found.ended or "")[:10], gone) if one
        )
        hits = f"{count(len(found.hits), 'hit')}" if found.hits else ""
        return line((one_line(found.title or "(no title)"), "bold"), (f"  {about}", DIM), (f"  {hits}", DIM))

    def action_hit(self, by: int) -> None:
        """Go to the next or the previous row that answers the question."""
        top = self.scroll_offset.y + self._lead
        others = [at for at in self._hits if (at > top if by > 0 else at < top)]
        if others:
            self._go_to(others[0] if by > 0 else others[-1])

    @property
    def _lead(self) -> int:
        return int(self.size.height * LEAD_SHARE)

    def _go_to(self, number: int) -> None:
        def go() -> None:
            self.scroll_to(y=max(0, number - self._lead), animate=False)

        go()
        # The view may still be getting its size.
        self.call_after_refresh(go)


def _row(row: Row, width: int, is_here: bool, app: str) -> Iterator[Text]:
    """Show a row: who speaks, and what."""
    if row.kind == "steps":
        yield fitted(line((f"  {one_line(row.text)}", DIM)), width)
        return
    if row.kind == "break":
        yield fitted(line((f"  {wording.REASONS[Reason(row.text)]}", DIM)), width)
        return
    kind = Kind(row.kind)
    name = _speaker(row, kind, app)
    time = row.timestamp[:16].replace("T", " ") if isinstance(row.timestamp, str) else ""
    style = "bold red" if row.is_error is True else "bold cyan"
    sign = "> " if is_here else "  "
    yield fitted(line((sign, "bold yellow"), (name, style), (f"  {time}", DIM)), width)
    most = MOST_LINES_OF_HIT if is_here else MOST_LINES_SAID if kind in _SAID else MOST_LINES
    room = max(1, width - MARGIN)
    lines = list(_body(row, kind, room))
    marked_at = next((n for n, one in enumerate(lines) if any("yellow" in str(span.style) for span in one.spans)), 0)
    # A long text is shown from a little before the first word that was asked for.
    begin = max(0, min(marked_at - most // 4, len(lines) - most)) if len(lines) > most else 0
    if begin:
        yield _indented(line((f"… {count(begin, 'line')} above", DIM)), MARGIN)
    yield from (_indented(one, MARGIN) for one in lines[begin : begin + most])
    rest = len(lines) - begin - most
    if rest > 0 or row.cut:
        yield _indented(line((f"… {count(rest, 'line')} more" if rest > 0 else "… more", DIM)), MARGIN)


def _speaker(row: Row, kind: Kind, app: str) -> str:
    if kind is Kind.TOOL_RESULT and row.is_error is True:
        return "failed"
    name = (APPS.get(app) or APPS[DEFAULT]).name
    return name_speaker(kind, row.tool if isinstance(row.tool, str) else None, name, row.role != Role.USER)


def _body(row: Row, kind: Kind, width: int) -> Iterator[Text]:
    """Show what a row says, wrapped: of a call its pieces, of all else its text."""
    pieces = row.pieces if isinstance(row.pieces, list) else []
    if kind is Kind.TOOL_CALL and pieces:
        for piece in pieces:
            yield from _piece(piece, width)
        return
    marks = row.marks if isinstance(row.marks, list) else []
    is_verbatim = kind is Kind.TOOL_RESULT
    is_code = False
    for text, own in _split(row.text.rstrip(), marks):
        is_fence = not is_verbatim and text.lstrip().startswith(_FENCES)
        if is_fence:
            is_code = not is_code
        style = DIM if is_fence else Style(color="green") if is_code else _markdown(text) if not is_verbatim else ""
        yield from wrapped(marked(text, own, style), width)


def _markdown(text: str) -> Style | str:
    """Return how a line of Markdown is drawn; its signs stay, as people who write it know them."""
    return Style(bold=True) if text.startswith("#") else DIM if text.startswith(">") else ""


def _piece(piece: Diff | Command | Code | PlainText, width: int) -> Iterator[Text]:
    if isinstance(piece, Diff):
        yield fitted(line((one_line(piece.path), "underline")), width)
        for sign, text in piece.rows:
            shown = safe(text).replace("\t", TAB)
            yield fitted(line((f"{sign} {shown}".rstrip(), _SIGNS.get(sign, ""))), width)
        if piece.more:
            yield line((f"… {count(piece.more, 'line')} more", DIM))
        return
    if isinstance(piece, Command):
        if piece.purpose:
            yield from wrapped(Text(f"# {one_line(piece.purpose)}", style=DIM), width)
        yield from wrapped(Text(f"$ {safe(piece.text)}".replace("\t", TAB), style="bold"), width)
        return
    yield from wrapped(Text(safe(piece.text).replace("\t", TAB)), width)


def _split(text: str, marks: Sequence[tuple[int, int]]) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield each line of a text with the marks in it."""
    begin, waiting = 0, list(marks)
    for one in text.split("\n"):
        end = begin + len(one)
        own = [(max(start, begin) - begin, min(stop, end) - begin) for start, stop in waiting if start < end]
        yield one, [mark for mark in own if mark[0] < mark[1]]
        waiting = [mark for mark in waiting if mark[1] > end]
        begin = end + 1


def _indented(text: Text, columns: int) -> Text:
    return line(" " * columns) + text
