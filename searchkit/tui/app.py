"""The interface: what keys and clicks do, and when the index is asked for what."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from subprocess import DEVNULL, Popen
from typing import ClassVar, Literal
from urllib.parse import urlencode

import msgspec
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.css.query import NoMatches
from textual.events import Key, Resize
from textual.geometry import Size
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from searchkit.backends.base import Order
from searchkit.backends.registry import find_store
from searchkit.client import control
from searchkit.errors import SearchkitError
from searchkit.query.filters import respelled
from searchkit.render.search import NEAR
from searchkit.render.wire import search as searches
from searchkit.sources import registry
from searchkit.sources.apps import APPS
from searchkit.text.format import count
from searchkit.text.sanitize import one_line, safe, url
from searchkit.tui.facets import NAMES, Facets
from searchkit.tui.index import Index, open_index
from searchkit.tui.lines import DIM, fitted, line
from searchkit.tui.preview import Preview
from searchkit.tui.query_line import QueryLine
from searchkit.tui.results import Item, Results, is_only_near, of_result, of_session

# A key after a pause is answered at once. Keys that follow each other faster than the second are one question: people
# type a letter every 100 to 200 ms.
PAUSE_SECONDS, TYPING_SECONDS = 0.1, 0.03
# What fits on a screen is asked for first, and takes half the time of all that is moved through; over 400 MB 40 ms of
# processor time instead of 89. The order does not depend on how many are asked for, so the others only follow.
FIRST_RESULTS, MOST_RESULTS = 10, 40
REST_SECONDS = 0.3
# Moving on through the list faster shows no preview of what is passed over.
MOVING_SECONDS = 0.04
# Below this there is one pane.
LEAST_COLUMNS = 80
# Lower than this, the line of offers is left out.
LEAST_ROWS = 8
HELP = """\
In the query
  type         search; project:shop, kind:prompt,
               after:7d and others are filters
  Tab          complete; again: the next; else
               the next pane
  Up, Down     move through the results
  Enter        reopen the session
  Esc          go to the results

In the results
  j k, arrows  move; g G first, last; Space b page
  Enter        reopen the session in its directory
  l, Right     read; h, Left, Esc back
  o            open it on the page
  y            copy a citation
  s            sort: relevance, newest, oldest
  f            facets; Enter or a click toggles one
  /            back to the query

In the conversation
  j k, Space b scroll; n N next, previous hit

q, Ctrl-C      leave
"""
# As many of them as there is room for stand in the last line.
KEYS = ("? help", "Enter reopen", "/ query", "l read", "f facets", "o page", "y cite", "q leave")
SYNTAX = 'words, "a phrase", -without, this OR that, project:shop, kind:prompt, after:7d'


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done once the interface has left the screen."""

    action: Literal["resume", "index", "demo"]
    session: str = ""


class SearchApp(App[Outcome]):
    """The interface for one index."""

    ENABLE_COMMAND_PALETTE = False
    TITLE = "searchkit"
    CSS = """
    Screen { layout: vertical; }
    #top { height: 1; }
    #prompt { width: 2; height: 1; }
    QueryLine, QueryLine:focus { border: none; height: 1; padding: 0; width: 1fr; background: ansi_default; }
    #offers, #heading, #status { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
    #body { height: 1fr; }
    #facets { width: 28; display: none; border-right: solid ansi_bright_black; }
    .-facets #facets { display: block; }
    #results { width: 5fr; }
    #side { width: 6fr; border-left: solid ansi_bright_black; }
    #side:focus-within #heading { text-style: reverse; }
    #preview { height: 1fr; }
    .-narrow #side { display: none; border: none; }
    .-narrow.-reading #side { display: block; width: 1fr; }
    .-narrow.-reading #results, .-narrow.-reading #facets { display: none; }
    .-narrow.-facets #facets { width: 1fr; border: none; }
    .-narrow.-facets #results { display: none; }
    .-empty #side { display: none; }
    .-low #offers { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "quit", "Leave", show=False, priority=True),
        Binding("q", "quit", "Leave", show=False),
        Binding("escape", "leave_pane", "Back", show=False),
        Binding("slash", "query", "Query", show=False),
        Binding("question_mark,f1", "help", "Help", show=False),
        Binding("enter", "resume", "Reopen", show=False),
        Binding("l,right", "read", "Read", show=False),
        Binding("h,left", "back_to_results", "Results", show=False),
        Binding("o", "open_page", "Page", show=False),
        Binding("y", "copy", "Cite", show=False),
        Binding("f", "facets", "Facets", show=False),
        Binding("s", "sort", "Sort", show=False),
        Binding("i", "make_index", "Index", show=False),
        Binding("d", "demo", "Demo", show=False),
    ]

    def __init__(self, directory: str, is_resident_wanted: bool = True, typed: str = "") -> None:
        """Open the index once the screen is there."""
        # The colours of the terminal, or none where NO_COLOR is set, which is decided before there is a theme.
        super().__init__(ansi_color=True)
        self.theme = "ansi-dark"
        self._directory = directory
        self._is_resident_wanted = is_resident_wanted
        self._typed = typed
        self._index: asyncio.Future[Index] | None = None
        self._order = Order.RELEVANCE
        # What the results are for; while another question waits for its answer they are not for what is typed.
        self._answered: tuple[str, Order] | None = None
        self._status = ""
        self._columns = 0
        self._typed_at = 0.0

    @property
    def has_index(self) -> bool:
        """Whether there is anything to search."""
        return find_store(self._directory).exists()

    def compose(self) -> ComposeResult:
        """Lay out the panes."""
        with Horizontal(id="top"):
            yield Static("> ", id="prompt", markup=False)
            yield QueryLine(self._values)
        yield Static("", id="offers", markup=False)
        with Horizontal(id="body"):
            yield Facets()
            yield Results()
            with Vertical(id="side"):
                yield Static("", id="heading", markup=False)
                yield Preview()
        yield Static("", id="status", markup=False)

    def on_mount(self) -> None:
        """Show the newest sessions, or what is to be done where there is no index."""
        self._fit(self.size)
        query = self.query_one(QueryLine)
        query.value = self._typed
        query.cursor_position = len(self._typed)
        query.focus()
        if not self.has_index:
            self._offer_index()
            return
        self._show_offers(())
        self._say("opening the index")
        self._ask(0.0)

    async def on_unmount(self) -> None:
        """Release the index."""
        if self._index is not None and self._index.done() and not self._index.cancelled():
            with suppress(Exception):
                self._index.result().close()

    def on_resize(self, event: Resize) -> None:
        """Show one pane or two."""
        self._fit(event.size)

    def _fit(self, size: Size) -> None:
        self._columns = size.width
        self.screen.set_class(size.width < LEAST_COLUMNS, "-narrow")
        self.screen.set_class(size.height < LEAST_ROWS, "-low")
        self._say(self._status)

    # Asking: each question cancels the one before it.

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search while somebody types."""
        if self.has_index:
            now = time.monotonic()
            self._ask(TYPING_SECONDS if now - self._typed_at < PAUSE_SECONDS else 0.0)
            self._typed_at = now
            self.run_worker(self._offer(event.value), group="offers", exclusive=True)

    def _ask(self, wait: float) -> None:
        self.run_worker(self._search(wait), group="search", exclusive=True)

    async def _search(self, wait: float) -> None:
        await asyncio.sleep(wait)
        typed, order = self.query_one(QueryLine).value, self._order
        try:
            index = await self._opened()
            if typed.strip():
                found = await index.search(typed, order, FIRST_RESULTS)
                items: Sequence[Item] = [of_result(one) for one in found.results]
                status, why = _told(found, order), "\n".join(_reasons(found))
            else:
                listed = await index.sessions()
                items = [of_session(one) for one in listed.sessions]
                status, why = f"{count(listed.total, 'session')}, newest first", "Nothing is indexed yet."
        except SearchkitError as error:
            self._answered = None
            self._fail(error)
            return
        self._answered = (typed, order)
        results = self.query_one(Results)
        results.show(items, why)
        self._say(status)
        if self.screen.has_class("-facets"):
            self._count()
        if typed.strip() and len(items) == FIRST_RESULTS:
            await asyncio.sleep(REST_SECONDS)
            with suppress(SearchkitError):
                found = await index.search(typed, order, MOST_RESULTS)
                results.extend([of_result(one) for one in found.results])

    async def _opened(self) -> Index:
        if self._index is None:
            opening = asyncio.to_thread(open_index, self._directory, self._is_resident_wanted)
            self._index = asyncio.ensure_future(opening)
        # A question that is cancelled does not stop what all others wait for.
        return await asyncio.shield(self._index)

    async def _values(self, name: str) -> Sequence[str]:
        try:
            return await (await self._opened()).values(name)
        except SearchkitError:
            return ()

    async def _offer(self, typed: str) -> None:
        offered = await self.query_one(QueryLine).completer.offers(typed)
        self._show_offers([one for one in offered if one != typed])

    def on_query_line_offered(self, event: QueryLine.Offered) -> None:
        """Name what could be typed."""
        self._show_offers(event.offered)

    def _show_offers(self, offered: Sequence[str]) -> None:
        named = [one.rpartition(" ")[2] if not one.endswith('"') else one.rpartition(":")[2] for one in offered]
        told = f"Tab: {'  '.join(map(one_line, named))}" if named else ""
        if not self.query_one(QueryLine).value:
            told = SYNTAX
        self.query_one("#offers", Static).update(fitted(line((told, DIM)), self.size.width - 2))

    # The list and the preview.

    def on_query_line_steered(self, event: QueryLine.Steered) -> None:
        """Move the list while somebody types."""
        results = self.query_one(Results)
        (results.action_move if event.action == "move" else results.action_page)(event.by)

    def on_query_line_completed(self) -> None:
        """Go on to the next pane."""
        self.screen.focus_next()

    async def on_input_submitted(self) -> None:
        """Reopen the chosen session, unless the list is still that of another question."""
        await self.action_resume()

    def on_results_moved(self) -> None:
        """Show the conversation of the chosen item."""
        self.run_worker(self._preview(), group="preview", exclusive=True)

    def on_results_opened(self) -> None:
        """Read the conversation."""
        self.action_read()

    async def _preview(self) -> None:
        item, preview = self.query_one(Results).chosen, self.query_one(Preview)
        if item is None:
            preview.say("")
            self._head(line())
            return
        await asyncio.sleep(MOVING_SECONDS if preview.reading else 0.0)
        try:
            typed = self._answered[0] if self._answered else ""
            found = await (await self._opened()).reading(item.id, typed)
        except SearchkitError as error:
            preview.say(f"{error.message}\n{error.hint}")
            self._head(line())
            return
        preview.show(found)
        self._head(preview.heading())

    def _head(self, heading: Text) -> None:
        with suppress(NoMatches):
            self.query_one("#heading", Static).update(heading)

    # Facets.

    def action_facets(self) -> None:
        """Show the facets and go there, or hide them."""
        if self.screen.has_class("-facets"):
            self._hide_facets()
            return
        self.screen.set_class(True, "-facets")
        self.query_one(Facets).focus()
        self._count()

    def _hide_facets(self) -> None:
        self.screen.set_class(False, "-facets")
        self.query_one(Results).focus()

    def _count(self) -> None:
        self.run_worker(self._counted(), group="facets", exclusive=True)

    async def _counted(self) -> None:
        typed = self.query_one(QueryLine).value
        counts: searches.Facets | None = None
        if typed.strip():
            with suppress(SearchkitError):
                counts = await (await self._opened()).facets(typed, NAMES)
        self.query_one(Facets).show(counts.facets if counts else {}, typed)

    def on_facets_toggled(self, event: Facets.Toggled) -> None:
        """Write the filter into the query, or take it out."""
        self.query_one(QueryLine).toggle(event.name, event.value)

    # Keys.

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Let what makes an index be done only where there is none."""
        return not self.has_index if action in ("make_index", "demo") else True

    def action_query(self) -> None:
        """Go to the query."""
        self.screen.set_class(False, "-reading")
        self.query_one(QueryLine).focus()

    def action_leave_pane(self) -> None:
        """Leave the pane; from the results go to the query, and from there to the results."""
        if self.screen.has_class("-facets"):
            self._hide_facets()
        elif self.focused is self.query_one(Preview):
            self.action_back_to_results()
        elif self.focused is self.query_one(QueryLine):
            self.query_one(Results).focus()
        else:
            self.action_query()

    def action_back_to_results(self) -> None:
        """Leave the conversation."""
        self.screen.set_class(False, "-reading")
        self.query_one(Results).focus()

    def action_read(self) -> None:
        """Read the conversation of the chosen item."""
        if self.query_one(Results).chosen:
            self.screen.set_class(True, "-reading")
            self.query_one(Preview).focus()

    def action_sort(self) -> None:
        """Sort by the next of the orders."""
        orders = list(Order)
        self._order = orders[(orders.index(self._order) + 1) % len(orders)]
        self._ask(0.0)

    def action_help(self) -> None:
        """Say what the keys do."""
        self.push_screen(Help())

    async def action_resume(self) -> None:
        """Leave the screen and become the program that wrote the session; say why not where that cannot be."""
        item = self.query_one(Results).chosen
        if item is None or self._answered != (self.query_one(QueryLine).value, self._order):
            return
        if item.session is None:
            self._warn("This belongs to no session that could be reopened.")
            return
        found = self.query_one(Preview).reading
        if found is not None and found.session == item.session:
            if found.is_gone:
                self._warn(
                    "The transcript is no longer on disk, so the session cannot be reopened; it can be read here."
                )
                return
            if found.resume is None:
                self._warn("No command can be made that reopens this session.")
                return
        # The directory may lie on a network that does not answer.
        is_there = item.project is not None and await asyncio.to_thread(os.path.isdir, item.project)
        if not is_there:
            self._warn(f"The directory of the session does not exist: {one_line(item.project or 'it is not known')}")
            return
        self.exit(Outcome(action="resume", session=item.session))

    async def action_open_page(self) -> None:
        """Open the conversation in the browser."""
        item = self.query_one(Results).chosen
        if item is None:
            return
        typed = self._answered[0] if self._answered else ""
        try:
            address = await asyncio.to_thread(self._page_of, item.id, typed)
        except (SearchkitError, OSError) as error:
            self._warn(f"The page cannot be opened: {getattr(error, 'message', error)}")
            return
        is_shown = await asyncio.to_thread(_browse, address)
        said = "Opened the page in the browser." if is_shown else "There is no browser here: searchkit serve --port 0"
        self.notify(said, markup=False)

    def _page_of(self, id: str, typed: str) -> str:
        from pathlib import Path

        directory = Path(self._directory)
        control.start(directory, ())
        address, _, token = control.listen(directory, 0).partition("#")
        target = f"{address}session/{url(id)}" + (f"?{urlencode({'q': typed})}" if typed.strip() else "")
        return str(control.first_page(directory, f"{target}#{token}"))

    def action_copy(self) -> None:
        """Copy what leads back to the chosen item; it is shown, too, as a terminal may refuse without a word."""
        item = self.query_one(Results).chosen
        if item is None:
            return
        self.copy_to_clipboard(item.citation)
        self.notify(safe(item.citation), title="Copied, if the terminal allows it:", markup=False, timeout=8)

    def action_make_index(self) -> None:
        """Leave the screen and read the transcripts."""
        self.exit(Outcome(action="index"))

    def action_demo(self) -> None:
        """Leave the screen and show the demonstration."""
        self.exit(Outcome(action="demo"))

    # What is said.

    def _offer_index(self) -> None:
        """Say what there is to do where there is no index."""
        roots = registry.default_roots(os.environ)
        found = [root for root in roots if root.is_dir()]
        where = " and ".join(one_line(str(root)) for root in found)
        todo = [
            "There is no index yet.",
            "",
            f"i  read the transcripts below {where}"
            if found
            else f"There are no transcripts below {' or '.join(app.home for app in APPS.values())}.",
            "d  show a tour over bundled transcripts",
            "q  leave",
        ]
        self.screen.set_class(True, "-empty")
        self.query_one(Results).show([], "\n".join(todo))
        self.query_one(Results).focus()
        self._say("no index")

    def _fail(self, error: SearchkitError) -> None:
        self.query_one(Results).show([], f"{safe(error.message)}\n{safe(error.hint)}")
        self._say("error")

    def _warn(self, message: str) -> None:
        self.notify(message, severity="warning", markup=False, timeout=6)

    def _say(self, status: str) -> None:
        """Say how much was found, and, where there is room, what the keys do."""
        self._status = status
        room = self._columns - 2
        said, keys = line(status), ""
        for number in range(1, len(KEYS) + 1):
            more = " · ".join(KEYS[:number])
            keys = more if room - said.cell_len - 2 >= len(more) else keys
        said.pad_right(max(0, room - said.cell_len - len(keys)))
        said.append(keys, DIM)
        with suppress(NoMatches):
            self.query_one("#status", Static).update(fitted(said, room))


class Help(ModalScreen[None]):
    """What the keys do; any key that does not scroll leaves it."""

    CSS = """
    Help { align: center middle; }
    #help { width: auto; max-width: 100%; height: auto; max-height: 100%; border: solid ansi_blue; padding: 0 1;
        scrollbar-size-vertical: 1; scrollbar-color: ansi_bright_black; scrollbar-background: ansi_default; }
    #help Static { width: auto; text-wrap: nowrap; }
    """
    _SCROLLING = frozenset({"up", "down", "pageup", "pagedown", "home", "end"})

    def compose(self) -> ComposeResult:
        """Show the keys."""
        with VerticalScroll(id="help"):
            yield Static(HELP.rstrip(), markup=False)

    def on_key(self, event: Key) -> None:
        """Leave."""
        if event.key not in self._SCROLLING:
            event.stop()
            self.dismiss()

    def on_click(self) -> None:
        """Leave."""
        self.dismiss()


def _told(found: searches.Answer, order: Order) -> str:
    """Say how much was found, how much of what is shown holds none of the words, and how long it took."""
    near = sum(map(is_only_near, found.results))
    said = count(found.total, "match", "matches") if near < len(found.results) or not near else ""
    said = " and ".join(one for one in (said, f"{near} {NEAR}" if near else "") if one)
    by = "" if order is Order.RELEVANCE else f", {order.value} first"
    return f"{said}{by}, {found.took_ms} ms"


def _reasons(found: searches.Answer) -> Iterator[str]:
    """Say why nothing was found, and what to try."""
    if found.results:
        return
    if found.hidden_by_filters:
        yield f"Nothing matches with these filters; without them {count(found.hidden_by_filters, 'part')} would."
    else:
        yield "Nothing matches."
    yield from respelled(found.respelled)
    for word, alike in found.did_you_mean.items():
        if word not in found.respelled and alike:
            yield f"No {one_line(word)!r} anywhere; did you mean {' or '.join(map(one_line, alike))}?"
    yield from map(one_line, found.notes)


def _browse(page: str) -> bool:
    """Open a page in the browser; one that would run in this terminal is none."""
    if sys.platform == "win32":
        os.startfile(page)
        return True
    has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    opener = "open" if sys.platform == "darwin" else "xdg-open"
    if not has_screen:
        return False
    try:
        Popen([opener, page], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)
    except OSError:
        return False
    return True
