"""What a session is called where nobody gave it a title: the first words of a person that tell what it is about."""

import re
from collections.abc import Iterable

# So much of a prompt serves as a title.
TITLE_CHARACTERS = 100
# So many of the first things that were typed are looked at.
MOST_TYPED = 32
# A text of so many characters tells something, one of several words with fewer ("fix login"), and Chinese, Japanese
# and Korean with fewer still.
_MIN_CHARACTERS, _MIN_CHARACTERS_OF_WORDS, _MIN_WIDE_CHARACTERS = 12, 8, 4
_WIDE = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# Commands of the client that say nothing about the work, with or without arguments.
_HOUSEKEEPING = re.compile(
    r"/(?:clear|compact|config|context|cost|doctor|effort|exit|export|fast|help|hooks|ide|login|logout|mcp|memory|model"
    r"|permissions|plugins?|privacy-settings|quit|release-notes|reload|rename|resume|rewind|settings|status|statusline"
    r"|terminal-setup|theme|upgrade|usage|vim)(?:\s.*)?",
    re.DOTALL,
)
_WARMUP = "Warmup"


def title_from(texts: Iterable[str]) -> str | None:
    """Choose a title among what was typed, in the order in which it should be preferred."""
    first = None
    for text in texts:
        title = " ".join(text.split())
        if len(title) < 2 or title == _WARMUP or _HOUSEKEEPING.fullmatch(title):
            continue
        if _is_substantial(title):
            return title[:TITLE_CHARACTERS]
        first = first or title
    return first


def _is_substantial(title: str) -> bool:
    return (
        len(title) >= _MIN_CHARACTERS
        or (" " in title and len(title) >= _MIN_CHARACTERS_OF_WORDS)
        or len(_WIDE.findall(title)) >= _MIN_WIDE_CHARACTERS
    )
