"""Products in bytes come near to those in floats, also where a few columns or tokens are giants."""

from collections.abc import Callable

import numpy as np
import pytest

from searchkit.embed.minilm.build import SPARE, Bytes, Observing, Range, ranges
from searchkit.embed.minilm.graph import INPUT, Array, Dense, Floats, Graph
from searchkit.embed.minilm.run import Encoder

TOKENS, WIDTH, OUT = 200, 64, 48
NUMBERS = np.random.default_rng(7)
MATRIX = NUMBERS.standard_normal((WIDTH, OUT)).astype(np.float32)
BIAS = NUMBERS.standard_normal(OUT).astype(np.float32)
Multiply = Callable[[Graph, str, Dense], list[str] | str]


@pytest.fixture
def tokens() -> Array:
    """Tokens of usual numbers, a row each, the same for every test."""
    return np.random.default_rng(8).standard_normal((TOKENS, WIDTH)).astype(np.float32)


def run(tokens: Array, multiply: Multiply) -> list[Array]:
    """Return what a graph of one product tells, the product last."""
    graph = Graph()
    rows = graph.node("Squeeze", Floats().look_up(graph, tokens, INPUT), graph.constant(np.array([0])))
    product = multiply(graph, rows, (MATRIX, BIAS))
    graph.tell(product if isinstance(product, str) else product[0], ("tokens", OUT))
    return Encoder(graph.encoded(INPUT)).told([range(len(tokens))])


def in_bytes(tokens: Array, seen: Array) -> Array:
    """Multiply tokens in bytes, with the ranges of those that were seen."""
    known = ranges([run(seen, Observing().multiply)[:-1]])
    return run(tokens, Bytes(known).multiply)[-1]


def error(tokens: Array, product: Array) -> float:
    """Return by how much a product is wrong, as a share of what it should be."""
    expected = tokens @ MATRIX + BIAS
    return float(np.linalg.norm(product - expected) / np.linalg.norm(expected))


def test_ranges_are_those_of_all_texts(tokens: Array) -> None:
    """They reach from the least to the most that any text has, and a little further; zero is among them."""
    told = [run(text, Observing().multiply)[:-1] for text in (tokens[:50], tokens[50:], abs(tokens))]

    (found,) = ranges(told)
    (above,) = ranges(told[2:])

    assert np.allclose(found.lowest, tokens.min(axis=0) * SPARE)
    assert np.allclose(found.highest, abs(tokens).max(axis=0) * SPARE)
    assert not above.lowest.any()


def test_usual_numbers(tokens: Array) -> None:
    """Bytes are wrong by no more than a fiftieth."""
    assert error(tokens, in_bytes(tokens, tokens)) < 0.02


def test_columns_of_giants(tokens: Array) -> None:
    """A column that is thirty times as large as the others takes little from them."""
    tokens[:, 5] *= 30

    product = in_bytes(tokens, tokens)

    # What the other columns add is told apart, as if the giant were not there.
    others = tokens.copy()
    others[:, 5] = 0
    rest = product - tokens[:, 5:6] * MATRIX[5]
    assert error(others, rest) < 0.1


def test_numbers_beyond_all_that_was_seen(tokens: Array) -> None:
    """What is larger than was ever seen counts as the largest, and does not turn round."""
    large, giant = tokens[:1].copy(), tokens[:1].copy()
    large[0, 0], giant[0, 0] = 100, 1e6

    assert np.allclose(in_bytes(large, tokens), in_bytes(giant, tokens))


def test_column_that_never_moved(tokens: Array) -> None:
    """A column of zeros takes nothing from the others, nor does a text of zeros."""
    tokens[:, 3] = 0

    assert error(tokens, in_bytes(tokens, tokens)) < 0.02
    assert np.allclose(BIAS, in_bytes(np.zeros_like(tokens), tokens), atol=0.05)
    assert np.allclose(BIAS, in_bytes(np.zeros_like(tokens), np.zeros_like(tokens)))


def test_tokens_of_giants_behind_an_activation(tokens: Array) -> None:
    """There, a token that is a thousand times as large as the others has a scale of its own."""
    activated = np.maximum(tokens, np.float32(-0.17))
    activated[9] *= 1_000

    (product,) = run(activated, Bytes([]).multiply_activated)

    usual = np.arange(TOKENS) != 9
    assert error(activated[usual], product[usual]) < 0.02
    assert error(activated[9:10], product[9:10]) < 0.1


def test_products_ask_for_their_ranges_in_turn(tokens: Array) -> None:
    """Each product takes the next range, and one behind an activation takes none."""
    wide = Range(lowest=np.full(WIDTH, -1e6, np.float32), highest=np.full(WIDTH, 1e6, np.float32))
    near = Range(lowest=tokens.min(axis=0), highest=tokens.max(axis=0))
    arithmetic = Bytes([wide, near])

    def second(graph: Graph, rows: str, by: Dense) -> list[str]:
        arithmetic.multiply(graph, rows, by)
        arithmetic.multiply_activated(graph, rows, by)
        return arithmetic.multiply(graph, rows, by)

    assert error(tokens, run(tokens, second)[-1]) < 0.02


def test_products_of_the_same_tokens_share_a_range(tokens: Array) -> None:
    """By whatever matrix tokens are multiplied, their range is told and asked for once."""
    twice = (MATRIX * 2, BIAS)

    def observed(graph: Graph, rows: str, by: Dense) -> list[str]:
        return Observing().multiply(graph, rows, by, twice)

    known = ranges([run(tokens, observed)[:-1]])

    def doubled(graph: Graph, rows: str, by: Dense) -> str:
        return Bytes(known).multiply(graph, rows, by, twice)[1]

    assert len(known) == 1
    assert error(tokens * 2, run(tokens, doubled)[-1]) < 0.02
