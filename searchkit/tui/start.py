"""Opens the interface where a terminal can show it, and says why not elsewhere; Textual is imported here alone."""

import os
import sys
from typing import TYPE_CHECKING

from searchkit import config
from searchkit.client.connect import SWITCH

if TYPE_CHECKING:
    from searchkit.tui.app import Outcome

# Terminals that can neither move the cursor nor clear a line.
_DUMB = frozenset({"", "dumb", "unknown"})


def refusal() -> str | None:
    """Say why the interface cannot be shown here; an empty reason where nobody sits before a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty() and sys.stderr.isatty()):
        return ""
    if sys.platform != "win32" and os.environ.get("TERM", "") in _DUMB:
        return f"This terminal (TERM={os.environ.get('TERM', '')}) cannot show the full-screen interface."
    try:
        "│·…".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return f"The full-screen interface needs UTF-8, and this terminal speaks {sys.stdout.encoding}."
    return None


def show(index: str | None) -> "tuple[Outcome | None, str]":
    """Show the interface until it is left; return what is to be done then, and the index."""
    # It takes a fifth of a second to import, and no other command needs it.
    from searchkit.tui.app import SearchApp

    directory = config.resolve((), index).url
    app = SearchApp(directory, not os.environ.get(SWITCH))
    return app.run(), directory
