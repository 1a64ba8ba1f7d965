"""Conversations that are being read: how much of them is kept, and that what is not kept is answered (issue 15)."""

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from searchkit import Engine
from searchkit.backends.base import Backend
from searchkit.conversation.pages import Reading, leaf
from searchkit.web import conversation_api
from searchkit.web.conversation_api import MOST_READINGS, Key, ReadingCache, size
from searchkit.web.endpoints import Unread, parse
from tests.corpus.long import write_long
from tests.support.running import Run
from tests.support.transcript import Home


def key(name: str) -> Key:
    return Key(index="", identity=(1,), id=name, words="", as_of="1")


@pytest.fixture
def laid_out(home: Home, indexed: Callable[[], Backend]) -> Reading:
    """A conversation of some 300 records, laid out."""
    written = write_long(home.root, 300)
    found = leaf(indexed().catalog, written.prompts[0])
    assert found is not None
    return found


def test_readings_are_kept_as_far_as_there_is_room(laid_out: Reading) -> None:
    """Together they take no more than so many bytes; those that were not used for longest are let go."""
    cache = ReadingCache(most_bytes=3 * size(laid_out))

    kept = [cache.put(key(name), laid_out) for name in "abc"]
    cache.get(key("a"))
    cache.put(key("d"), laid_out)

    assert [True] * 3 == kept
    assert "acd" == "".join(name for name in "abcd" if cache.get(key(name)))


def test_few_readings_are_kept_at_all(laid_out: Reading) -> None:
    """However small they are, there is an end to it."""
    cache = ReadingCache()

    for number in range(MOST_READINGS + 1):
        cache.put(key(str(number)), laid_out)

    assert cache.get(key("0")) is None
    assert cache.get(key("1")) is not None


def test_reading_that_is_too_large_is_not_kept(laid_out: Reading) -> None:
    """It would take the place of all others."""
    cache = ReadingCache(most_bytes=size(laid_out) - 1)

    assert not cache.put(key("a"), laid_out)
    assert cache.get(key("a")) is None


def test_size_counts_what_a_reading_names(laid_out: Reading) -> None:
    """A hit, a branch and a record count as what they take."""
    more = replace(laid_out, hits=frozenset(range(100)), keys=laid_out.keys * 2)

    assert size(more) - size(laid_out) >= 100 * 32 + len(laid_out.keys) * 8


def test_reading_that_is_not_kept_is_answered_page_by_page(
    home: Home, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its moment stays the same as long as the session does, so that the page need not begin again."""
    written = write_long(home.root, 300)
    run("index")
    monkeypatch.setattr(conversation_api, "_cache", ReadingCache(most_bytes=0))

    def ask(*given: tuple[str, str]) -> Any:
        with Engine() as engine:
            asked = parse(conversation_api.ReadingParameters, given)
            found = conversation_api.reading(engine, asked, written.prompts[0])
            return to_builtins(found.read() if isinstance(found, Unread) else found)

    whole = ask(("begin", "0"), ("count", "200"))
    pages = [ask(("begin", str(begin)), ("count", "7"), ("as_of", whole["as_of"])) for begin in range(0, 21, 7)]
    with written.path.open("ab") as file:
        file.write(written.path.read_bytes().splitlines(keepends=True)[2].replace(b'"uuid":"', b'"uuid":"f'))
    run("index")

    assert {whole["as_of"]} == {page["as_of"] for page in pages}
    assert whole["rows"][:21] == [row for page in pages for row in page["rows"]]
    assert whole["as_of"] != ask()["as_of"]
