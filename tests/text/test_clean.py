"""Text is made fit to be searched: colour codes and base64 go, words and white space stay."""

import pytest

from searchkit.sources.parts import digest, split
from searchkit.text.sanitize import clean
from searchkit.types import Block, Kind, Record, Role

CASES = [
    ("\x1b[31mred\x1b[0m", "red"),
    ("\x1b[1;32mgreen\x1b[K and \x1b[2Jgone", "green and gone"),
    ("\x1b]0;title\x07shell", "shell"),
    ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
    ("\x1bPcontrol\x1b\\after", "after"),
    ("\x1b(Bplain", "plain"),
    ("  outer white space\n\n", "  outer white space\n\n"),
    ("half an escape \x1b", "half an escape \x1b"),
    ("日本語 and emoji \U0001f600", "日本語 and emoji \U0001f600"),
]


@pytest.mark.parametrize(("text", "cleaned"), CASES, ids=[repr(text)[1:24] for text, _ in CASES])
def test_terminal_codes_go_and_words_stay(text: str, cleaned: str) -> None:
    """What only a terminal understands is taken out; nothing else is."""
    assert cleaned == clean(text)


@pytest.mark.parametrize(
    "opening", ["iVBORw0KGgo", "/9j/4AA", "JVBERi0", "R0lGOD", "UklGR", "UEsDBBQ", "data:image/png;base64,"]
)
def test_base64_is_replaced_by_its_length(opening: str) -> None:
    """A long run that opens like a file in base64 leaves a note of how long it was, and its neighbours."""
    run = opening + "Ab3+/" * 60

    cleaned = clean(f"before {run} after")

    assert cleaned.startswith("before ")
    assert cleaned.endswith("characters] after")
    assert "Ab3+/Ab3+/" not in cleaned


@pytest.mark.parametrize(
    "text", ["iVBORw0KGgo" + "A" * 20, "x" * 5000, "deadbeef" * 100, "base64, as they say, is long" * 20]
)
def test_what_merely_looks_like_base64_stays(text: str) -> None:
    """A short opening, a long word, a long hash and plain talk of base64 are text."""
    assert text == clean(text)


def test_part_holds_the_cleaned_text() -> None:
    """A part's text and digest are those of the cleaned text."""
    record = Record(uuid="u", type="user", line=1, blocks=[block(0, "\x1b[31mred\x1b[0m")])

    (part,) = split(record)

    assert ("red", digest(Kind.PROMPT, "red")) == (part.text, part.digest)


@pytest.mark.parametrize("text", ["", "  \n\t", "\x1b[31m\x1b[0m", "\u3000"])
def test_block_that_says_nothing_makes_no_part(text: str) -> None:
    """Empty text, white space and bare colour codes are nothing to search; the next block keeps its number."""
    record = Record(uuid="u", type="user", line=1, blocks=[block(0, text), block(1, "words")])

    assert [(1, "words")] == [(part.block, part.text) for part in split(record)]


def test_prompt_history_and_command_are_one_class() -> None:
    """The same words typed, remembered and taken as a command have one digest; an answer has another."""
    typed = {digest(kind, "/clear") for kind in (Kind.PROMPT, Kind.HISTORY, Kind.COMMAND)}

    assert 1 == len(typed)
    assert digest(Kind.TEXT, "/clear") not in typed
    assert digest(Kind.TEXT, "/clear") != digest(Kind.THINKING, "/clear")


def block(number: int, text: str) -> Block:
    """Make a block of a prompt."""
    return Block(number=number, kind=Kind.PROMPT, role=Role.USER, text=text)
