"""Lines on the screen that are laid out before they are drawn: a view that scrolls, and texts made safe for it."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.style import Style
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from searchkit.text.sanitize import safe

MARK = Style(color="yellow", bold=True)
DIM = Style(dim=True)
TAB = "    "
# Rich asks a console how to break lines; it is never printed to.
_MEASURE = Console(width=80)


class LineView(ScrollView, can_focus=True):
    """Draws lines that were laid out for its width; a subclass lays them out again when the width changes."""

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    LineView {
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-size-vertical: 1;
        scrollbar-gutter: stable;
        scrollbar-color: ansi_bright_black;
        scrollbar-color-hover: ansi_blue;
        scrollbar-color-active: ansi_blue;
        scrollbar-background: ansi_default;
        scrollbar-background-hover: ansi_default;
        scrollbar-background-active: ansi_default;
    }
    """

    def __init__(self, *, id: str) -> None:
        """Show nothing yet."""
        super().__init__(id=id)
        self._lines: Sequence[Text] = ()
        self._width = 0

    @property
    def line_width(self) -> int:
        """How many columns a line may take."""
        return max(1, self.scrollable_content_region.width)

    def lay_out(self) -> Iterable[Text]:
        """Return the lines for the width as it is."""
        return self._lines

    def update_lines(self) -> None:
        """Lay the lines out again and draw them."""
        self._width = self.line_width
        self._lines = list(self.lay_out())
        self.virtual_size = Size(self._width, len(self._lines))
        self.refresh()

    def on_resize(self) -> None:
        """Lay the lines out for another width."""
        if self.line_width != self._width:
            self.update_lines()

    def style_of(self, number: int) -> Style | None:
        """Return what a line is drawn with beside its own styles."""
        return None

    def render_line(self, y: int) -> Strip:
        """Draw a line of the screen."""
        number = y + self.scroll_offset.y
        width, base = self.size.width, self.rich_style
        if number >= len(self._lines):
            return Strip.blank(width, base)
        strip = Strip(self._lines[number].render(self.app.console))
        if (own := self.style_of(number)) is not None:
            base += own
        return strip.adjust_cell_length(width).apply_style(base)


def line(*pieces: "tuple[str, Style | str] | str") -> Text:
    """Make a line of texts that are safe already, with their styles."""
    made = Text(end="", no_wrap=True)
    for piece in pieces:
        text, style = (piece, "") if isinstance(piece, str) else piece
        made.append(text, style)
    return made


def coloured(text: str) -> Text:
    """Make a line of a text with colour codes, as `render` writes them; nothing in it is read as markup."""
    made = Text.from_ansi(text, end="", no_wrap=True)
    made.no_wrap = True
    return made


def marked(text: str, marks: Sequence[tuple[int, int]], style: Style | str = "") -> Text:
    """Make a text of a transcript safe, with what was asked for marked."""
    made, position = Text(end="", style=style), 0
    for start, end in marks:
        made.append(_shown(text[position:start]))
        made.append(_shown(text[start:end]), MARK)
        position = end
    made.append(_shown(text[position:]))
    return made


def fitted(text: Text, width: int) -> Text:
    """Cut a line to a width, with an ellipsis where it was cut."""
    text.truncate(max(1, width), overflow="ellipsis")
    return text


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Break a text into lines of a width; a word that is longer is broken, too."""
    for one in text.wrap(_MEASURE, max(1, width), overflow="fold"):
        one.end, one.no_wrap = "", True
        yield one


def note(text: str, width: int) -> list[Text]:
    """Lay out what is said in place of lines."""
    return [line(" ") + one for one in wrapped(Text(safe(text), style=DIM), width - 2)]


def _shown(text: str) -> str:
    return safe(text).replace("\t", TAB)
