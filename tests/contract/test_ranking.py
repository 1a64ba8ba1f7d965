"""The ranking depends on what a backend says of parts, never on their keys."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from searchkit import Engine
from searchkit.backends.base import Backend, Conclusion, Found, Hit, Near, Order, Step, Stored, Vector
from searchkit.embed.fake import FakeEmbedder
from searchkit.query.types import Query
from tests.reference.catalog import hashed
from tests.support.transcript import Home

# Positions of one session begin anywhere.
MOST_SHIFT = 1_000_000
WORDS = (
    "clock of the server",
    "why was the certificate not valid on the server",
    "paper printer",
    "pourquoi le quota du serveur est petit",
    "make test",
    "door",
)


class Hidden:
    """A backend with the keys of another one hashed, as far as a search asks for them."""

    def __init__(self, backend: Backend) -> None:
        """Take the backend that knows everything."""
        self._keys: dict[int, int] = {}
        self.catalog = HiddenCatalog(backend.catalog, self)
        self.words = HiddenWords(backend.words, self)
        self.vectors = HiddenVectors(backend.vectors, self)
        self.close = backend.close

    def hide(self, key: int) -> int:
        """Return a key by which the part of another key is known."""
        made = hashed(str(key))
        self._keys[made] = key
        return made

    def seen(self, keys: Sequence[int]) -> list[int]:
        """Return the keys behind those that were made."""
        return [self._keys[key] for key in keys]

    def moved(self, found: Any) -> Any:
        """Return a hit with another key, and with the positions of its session shifted."""
        position = found.position + hashed(f"session {found.session}") % MOST_SHIFT
        return msgspec.structs.replace(found, key=self.hide(found.key), position=position)


class Rest:
    """What needs no other keys."""

    def __init__(self, other: Any, hidden: Hidden) -> None:
        """Take whom to ask, and who knows the keys."""
        self.other, self.hidden = other, hidden

    def __getattr__(self, name: str) -> Any:
        """Let the other one answer."""
        return getattr(self.other, name)

    def by_key(self, found: Mapping[int, Any]) -> dict[int, Any]:
        """Return what is known by keys."""
        return {self.hidden.hide(key): value for key, value in found.items()}


class HiddenCatalog(Rest):
    """A catalog with hashed keys."""

    def stored(self, keys: Sequence[int], /) -> list[Stored | None]:
        """Return parts by their keys."""
        return cast("list[Stored | None]", self.other.stored(self.hidden.seen(keys)))

    def following(self, keys: Sequence[int], count: int, /) -> dict[int, list[int | None]]:
        """Return the parts at the next positions."""
        found = self.by_key(self.other.following(self.hidden.seen(keys), count))
        return {
            key: [None if one is None else self.hidden.hide(one) for one in several] for key, several in found.items()
        }

    def turns(self, keys: Sequence[int], before: int, after: int, /) -> dict[int, list[Step]]:
        """Return the turns around parts."""
        found = self.by_key(self.other.turns(self.hidden.seen(keys), before, after))
        return {
            key: [msgspec.structs.replace(step, key=self.hidden.hide(step.key)) for step in steps]
            for key, steps in found.items()
        }

    def prompts(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return what the turns of parts begin with."""
        found = self.by_key(self.other.prompts(self.hidden.seen(keys)))
        return {key: self.hidden.hide(prompt) for key, prompt in found.items()}

    def conclusions(self, keys: Sequence[int], /) -> dict[int, Conclusion]:
        """Return the last texts of the turns of parts."""
        found = self.by_key(self.other.conclusions(self.hidden.seen(keys)))
        return {key: msgspec.structs.replace(one, key=self.hidden.hide(one.key)) for key, one in found.items()}

    def calls(self, keys: Sequence[int], /) -> dict[int, int]:
        """Return the calls of results."""
        return {
            key: self.hidden.hide(call) for key, call in self.by_key(self.other.calls(self.hidden.seen(keys))).items()
        }


class HiddenWords(Rest):
    """An index of words with hashed keys."""

    def search(self, query: Query, limit: int, order: Order = Order.RELEVANCE, /) -> Found:
        """Return the parts that answer a query."""
        found: Found = self.other.search(query, limit, order)
        hits: list[Hit] = [self.hidden.moved(hit) for hit in found.hits]
        return msgspec.structs.replace(found, hits=hits)

    def scored(self, query: Query, keys: Sequence[int], /) -> list[Hit]:
        """Score parts for the words of a query."""
        return [self.hidden.moved(hit) for hit in self.other.scored(query, self.hidden.seen(keys))]


class HiddenVectors(Rest):
    """An index of vectors with hashed keys."""

    def nearest(self, *asked: Any) -> list[Near]:
        """Return the nearest parts."""
        return [self.hidden.moved(near) for near in self.other.nearest(*asked)]

    def of(self, keys: Sequence[int], /) -> dict[int, Sequence[Vector]]:
        """Return the vectors of parts."""
        return self.by_key(self.other.of(self.hidden.seen(keys)))


@pytest.fixture
def engine(home: Home, tmp_path: Path) -> Iterator[Engine]:
    """An index with vectors of four sessions, with agents, calls, answers and what belongs to no session."""
    first, second, third, fourth = (home.session(f"{digit * 8}-1111-4111-8111-111111111111") for digit in "1234")
    first.prompt("the build is red on the server")
    call = first.call("Bash", {"command": "make test"})
    first.result(call, "the clock of the server is late")
    first.text("The clock of the server was late, so the certificate was not valid yet.")
    first.prompt("and the printer?")
    first.text("It waits for paper.")
    second.prompt("paint the door of the server room blue")
    second.text("The door is blue now.")
    second.text("Let me look at the clock, too.")
    third.prompt("le quota du serveur est trop petit")
    third.text("Relevé hier.")
    third.prompt("encore le quota du serveur, pourquoi est-il petit ?")
    third.text("Le certificat du serveur a changé.")
    fourth.prompt("why does the printer stop")
    fourth.text("There is no paper in the printer: that is why it was not valid.")
    home.agent(fourth.session, "a1").prompt("look at the clock of the printer")
    home.memory("server.md", "The server has a certificate and a clock.")
    home.plan("server", "Put the clock of the server right.")
    with Engine(tmp_path / "index", [home.root], "fake", embedder=lambda setting: FakeEmbedder()) as opened:
        opened.index(with_vectors=True)
        yield opened


@pytest.mark.parametrize("words", WORDS)
@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
@pytest.mark.parametrize("group", ["session", "none"])
def test_hashed_keys_rank_alike(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, words: str, mode: str, group: str
) -> None:
    """A backend whose keys are hashes gives the same results with the same scores in the same order."""
    expected = ranking(engine, words, mode, group)
    assert expected

    hidden = Hidden(engine.store.open())
    monkeypatch.setattr(engine.store, "open", lambda: hidden)
    engine.close()

    assert expected == ranking(engine, words, mode, group)


def ranking(engine: Engine, words: str, mode: str, group: str) -> list[tuple[str, float, list[str], int]]:
    """Return the ids and scores of results, further passages of theirs, and how much is told around them."""
    found = engine.search(words, 20, mode=mode, group=group)
    return [
        (
            result.best.stored.id,
            result.best.ranked.score,
            [other.stored.id for other in result.others],
            len(result.thread),
        )
        for result in found.results
    ]
