"""Counting tokens: never fewer than the encodings of language models make of a text."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkit.text import tokens

# Counted once with o200k and cl100k (tiktoken 0.14) and with the tokenizer inside anthropic 0.38.
MEASURED = json.loads((Path(__file__).parent.parent / "data" / "token_counts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("sample", MEASURED, ids=lambda sample: sample["name"])
def test_no_encoding_makes_more_of_a_text(sample: dict[str, str | int]) -> None:
    """Prose, code, digits, capitals and other scripts all count at least what the dearest encoding makes of them."""
    dearest = max(int(sample[name]) for name in ("o200k", "cl100k", "claude2"))

    assert tokens.count(str(sample["text"])) >= dearest


@pytest.mark.parametrize("sample", MEASURED, ids=lambda sample: sample["name"])
def test_margin_is_no_waste(sample: dict[str, str | int]) -> None:
    """No text counts much more than the dearest encoding makes of it."""
    dearest = max(int(sample[name]) for name in ("o200k", "cl100k", "claude2"))

    assert tokens.count(str(sample["text"])) <= 1.6 * dearest


@given(st.lists(st.text(), min_size=1))
def test_joined_texts_count_no_more_than_apart(texts: list[str]) -> None:
    """A pack that was measured in pieces is not larger as a whole."""
    apart = sum(tokens.count(f"\n\n{text}") for text in texts)

    assert tokens.count("".join(f"\n\n{text}" for text in texts)) <= apart


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("f" * 6_400, 800),
        ("\U00012000" * 100, 400),
        ("\x00\x01\ud800", 3),
        ("\n" * 100, 50),
        (" " * 6_400, 100),
        ("WORD " * 100, 180),
    ],
    ids=["long word", "rare script", "no characters", "line ends", "blanks", "capitals"],
)
def test_what_a_tokenizer_of_words_overlooks_is_counted(text: str, least: int) -> None:
    """White space, capitals, and words that it does not know are no single tokens."""
    assert tokens.count(text) >= least


def test_nothing_counts_nothing() -> None:
    """An empty text has no tokens."""
    assert 0 == tokens.count("")


@pytest.fixture
def by_letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the package that holds the tokenizer be missing."""
    monkeypatch.setattr(tokens, "_PACKAGE", "no_such_package")
    for kept in (tokens._tokenizer, tokens._pieces):
        kept.cache_clear()
    yield
    for kept in (tokens._tokenizer, tokens._pieces):
        kept.cache_clear()


@pytest.mark.usefixtures("by_letters")
@pytest.mark.parametrize("sample", MEASURED, ids=lambda sample: sample["name"])
def test_without_its_tokenizer_no_encoding_makes_more_either(sample: dict[str, str | int]) -> None:
    """Where the tokenizer is not installed, letters are counted instead, and a budget is not taken too far."""
    dearest = max(int(sample[name]) for name in ("o200k", "cl100k", "claude2"))

    assert tokens.count(str(sample["text"])) >= dearest
    assert "letters-1" == tokens.name()


def test_counting_loads_no_model() -> None:
    """The tokenizer comes without torch and whatever else the package around it would import."""
    program = (
        "import sys; from searchkit.text import tokens; early = 'tokenizers' in sys.modules; tokens.count('hello')\n"
        "print(early, {'torch', 'transformers', 'sentence_transformers', 'numpy'} & set(sys.modules))"
    )

    asked = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert "False set()\n" == asked.stdout
