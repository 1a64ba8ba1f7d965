"""Texts become tokens as all of them would, at the cost of their beginning."""

import time
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from searchkit.embed.minilm import run
from searchkit.embed.minilm.run import BATCH_TOKENS, CHOICE_ROWS, batches
from searchkit.embed.tokenize import Tokens, encodable

MAX_TOKENS = 16
WORDS = ["hello", "unbelievably", "getUserName", "ünïcödé", "读progress文件", "x" * 150, "😀", "...", "\n\n", "1e-9"]


def tokenizer() -> Tokenizer:
    """Open the default model's tokenizer."""
    path: Path = run.packaged() / run.TOKENIZER
    return Tokenizer.from_file(str(path))


TOKENS = Tokens(tokenizer(), MAX_TOKENS)
WHOLE = tokenizer()
WHOLE.no_padding()
WHOLE.enable_truncation(MAX_TOKENS)


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(words=st.lists(st.sampled_from(WORDS), max_size=60), joint=st.sampled_from([" ", "", "  \t", "-"]))
def test_beginning_gives_the_tokens_of_the_whole(words: list[str], joint: str) -> None:
    """Looking at the beginning only gives what tokenising the whole text and cutting it off would."""
    text = joint.join(words)
    expected = WHOLE.encode(text).ids

    numbers = TOKENS.numbers(text)

    assert numbers in ([], expected)
    assert not numbers or len(numbers) <= MAX_TOKENS


@pytest.mark.parametrize("text", ["one two three " * 150_000, "x" * 2_000_000, " " * 2_000_000, "é" * 2_000_000])
def test_long_text_costs_what_its_beginning_costs(text: str) -> None:
    """Two megabytes take no time to speak of, whatever they are."""

    began = time.process_time()
    TOKENS.numbers(text)
    taken = time.process_time() - began

    assert taken < 0.5


@pytest.mark.parametrize("text", ["", " ", "\x00\x01", "😀", "[SEP]", "\ufffd", "x" * 1000])
def test_text_of_nothing_known_has_no_tokens(text: str) -> None:
    """Where the model knows nothing of a text, it has no tokens at all."""
    assert [] == TOKENS.numbers(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("plain", "plain"), ("\ud83d\ude00", "😀"), ("a\ud83db", "a\ufffdb"), ("\ude00", "\ufffd"), ("", "")],
)
def test_halves_of_characters_are_joined_or_replaced(text: str, expected: str) -> None:
    """Two halves that belong together become their character; one alone becomes a sign that something was there."""
    assert expected == encodable(text)


@given(lengths=st.lists(st.integers(0, 300), max_size=2 * CHOICE_ROWS))
def test_batches_hold_every_text_once(lengths: list[int]) -> None:
    """Every text with tokens is in one batch, with others of its length, and no batch is too large."""
    made = list(batches((number, [1] * length) for number, length in enumerate(lengths)))

    assert sorted(number for number, length in enumerate(lengths) if length) == sorted(chain(*made))
    assert all(len({lengths[number] for number in batch}) == 1 for batch in made)
    assert all([1] * lengths[number] == row for batch in made for number, row in batch.items())
    assert all(len(batch) == 1 or sum(lengths[number] for number in batch) <= BATCH_TOKENS for batch in made)


def test_batches_read_no_further_than_they_need() -> None:
    """The first batch is there before the texts behind its choice are made into tokens."""
    rows = iter([(number, [1, 2, 3]) for number in range(CHOICE_ROWS + 5)])

    next(batches(rows))

    assert 5 == len(list(rows))
