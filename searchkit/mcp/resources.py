"""Sessions as documents: what a client lists as resources, and one of them as Markdown."""

from collections.abc import Iterator
from urllib.parse import unquote

from searchkit.engine import Engine
from searchkit.errors import UsageError
from searchkit.mcp.quoting import TITLE_CHARACTERS, line
from searchkit.render import markdown, outline
from searchkit.render.wording import Asked
from searchkit.text.format import day, last_part
from searchkit.types import Session

SCHEME = "searchkit://session/"
TEMPLATE = f"{SCHEME}{{id}}"
MARKDOWN = "text/markdown"
# Clients list resources for people to choose from.
MOST_LISTED = 20
# What of a session fits into a conversation; the longest have millions.
MOST_CHARACTERS = 60_000


def recent(engine: Engine) -> list[Session]:
    """Return the newest sessions."""
    return engine.sessions(limit=MOST_LISTED)


def named(session: Session) -> str:
    """Name a session for a person who chooses."""
    project = last_part(session.project) if session.project else ""
    return line(" · ".join(filter(None, (session.title, project, day(session.ended)))), 2 * TITLE_CHARACTERS)


def read(engine: Engine, uri: str) -> str:
    """Return a session as Markdown, as far as there is room; raises `UsageError` where there is none."""
    id = unquote(uri.removeprefix(SCHEME))
    if not uri.startswith(SCHEME) or not id:
        raise UsageError(f"{line(uri, 200)} is no session", f"read {TEMPLATE}")
    return "\n".join(_fitting(markdown.lines(outline.document(engine.outline(id), Asked()), is_full=False)))


def _fitting(lines: Iterator[str]) -> Iterator[str]:
    left = MOST_CHARACTERS
    fence = ""
    for one in lines:
        left -= len(one) + 1
        if left < 0:
            yield from [fence] if fence else []
            yield "*The session goes on; the tool show tells the rest.*"
            return
        if one.startswith("```"):
            ticks = one[: len(one) - len(one.lstrip("`"))]
            fence = "" if one == fence else fence or ticks
        yield one
