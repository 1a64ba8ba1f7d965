"""What every embedder promises: unit vectors that depend on nothing but the text."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from searchkit.embed.base import Embedder
from searchkit.embed.load import choose
from searchkit.embed.minilm.run import packaged

# Each is opened once for all of its tests. The last one takes seconds to import.
SETTINGS = ["fake", "default", "multilingual", pytest.param("path", marks=pytest.mark.slow)]
TEXTS = [
    "find the slow query in the session store",
    "the query is slow because of the join",
    "green paint dries on the fence",
    "fix it",
    "def mean(values): return sum(values) / len(values)",
    "修复内存泄漏 memory leak",
    "word " * 1000,
]
NOTHING = ["", "   \n\t ", "\x00\x01\x1b", "\ud83d"]
# Sums are taken in another order in other batches, and what is then rounded to a byte may tip over.
TOLERANCE = 0.01


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Embedder]:
    """Give a function that opens an embedder by its setting, once."""
    held: dict[str, Embedder] = {}

    def open_once(setting: str) -> Embedder:
        if setting not in held:
            name = str(packaged()) if setting == "path" else setting
            held[setting] = choose(name, tmp_path_factory.getbasetemp() / "models")
        return held[setting]

    return open_once


@pytest.fixture(params=SETTINGS)
def embedder(request: pytest.FixtureRequest, opened: Callable[[str], Embedder]) -> Embedder:
    """Every embedder in turn."""
    return opened(request.param)


def cosines(left: NDArray[np.float32], right: NDArray[np.float32]) -> list[float]:
    """Compare row by row."""
    return [float(value) for value in np.sum(left * right, axis=1)]


def test_vectors_have_length_one(embedder: Embedder) -> None:
    """Every text that says something has a vector of length 1, of the dimension that the embedder says."""
    vectors = embedder.embed(TEXTS)

    assert (len(TEXTS), embedder.identity.dimension) == vectors.shape
    assert np.float32 == vectors.dtype
    assert [pytest.approx(1, abs=1e-5)] * len(TEXTS) == list(np.linalg.norm(vectors, axis=1))


def test_no_texts_have_no_vectors(embedder: Embedder) -> None:
    """Nothing to embed is no mistake."""
    assert (0, embedder.identity.dimension) == embedder.embed([]).shape


def test_texts_that_say_nothing_are_near_nothing(embedder: Embedder) -> None:
    """Empty texts, spaces, control characters and halves of characters have the zero vector."""
    vectors = embedder.embed([*NOTHING, "word"])

    assert [0.0] * len(NOTHING) == list(np.linalg.norm(vectors, axis=1))[: len(NOTHING)]
    assert vectors[-1].any()
    assert not embedder.embed_query("").any()


@pytest.mark.parametrize(
    "text", ["🎉", "\ud800 broken \udfff", "a" * 2_000_000, "one two " * 250_000, "[SEP]", "\x00a"]
)
def test_no_text_is_refused(embedder: Embedder, text: str) -> None:
    """Whatever is in a text, and however long it is, it has a vector of numbers."""
    vectors = embedder.embed([text])

    assert np.isfinite(vectors).all()


def test_same_text_has_the_same_vector(embedder: Embedder) -> None:
    """Embedding twice gives equal bits."""
    assert embedder.embed(TEXTS).tobytes() == embedder.embed(TEXTS).tobytes()


def test_vectors_do_not_depend_on_other_texts(embedder: Embedder) -> None:
    """A text has the same vector alone, among others, and in whatever order."""
    together = embedder.embed(TEXTS)

    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    turned = embedder.embed(TEXTS[::-1])[::-1]

    assert np.allclose(together, alone, atol=TOLERANCE)
    assert np.allclose(together, turned, atol=TOLERANCE)


def test_related_texts_are_nearer(embedder: Embedder) -> None:
    """A question is nearer to what it is about than to something else."""
    question = embedder.embed_query("slow query")

    related, unrelated = embedder.embed([TEXTS[1], TEXTS[2]]) @ question

    assert related > unrelated + 0.1


def test_several_threads_may_ask_at_once(embedder: Embedder) -> None:
    """Threads that embed at the same time get what each of them would get alone."""
    expected = embedder.embed(TEXTS)

    with ThreadPoolExecutor(6) as pool:
        vectors = list(pool.map(lambda _: embedder.embed(TEXTS), range(6)))
        questions = list(pool.map(embedder.embed_query, TEXTS))

    assert all(np.allclose(expected, each, atol=TOLERANCE) for each in vectors)
    assert [pytest.approx(1, abs=TOLERANCE)] * len(TEXTS) == cosines(expected, np.array(questions))


def test_identity_says_what_the_vectors_are_made_with(embedder: Embedder) -> None:
    """An identity is equal to itself, and names where another one differs."""
    identity = embedder.identity

    assert [] == identity.differences(identity)
    assert identity.model
    assert identity.weights
    assert identity.max_tokens > 0
    assert embedder.cost >= 0
