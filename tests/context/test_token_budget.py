"""The budget of a pack: never exceeded, and used where there is something to use it for."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from searchkit import Engine
from searchkit.context import markdown as render
from searchkit.context.types import Pack
from searchkit.errors import UsageError
from searchkit.text import tokens
from tests.house.test_docs import SAMPLE

# Rare and common words of the sample, names of files, and parts of other things.
WORDS = """
the a test flaky certificate check memory channel rounding money index slow query webhook twice release tag sync upload
conflict redis worker customs price tax offline notes queue error failed cargo pytest src tls.rs products.py migration
kind:result kind:prompt is:error project:teashop "in the" merge* nonsenseword
""".split()
# Below this three tenths of the budget hold no further passage with its citation.
LEAST_TO_FILL = 1_500
LEAST_USED = 0.7


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of the sample."""
    with Engine(tmp_path_factory.mktemp("budget") / "index", [SAMPLE]) as opened:
        opened.index()
        yield opened


def packed(engine: Engine, words: str, max_tokens: int) -> Pack | None:
    """Pack, or return None where the budget is too small."""
    try:
        return engine.context(words, max_tokens)
    except UsageError:
        return None


@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), max_tokens=st.integers(1, 12_000))
@settings(max_examples=60, deadline=None)
def test_budget_is_never_exceeded(engine: Engine, words: list[str], max_tokens: int) -> None:
    """Whatever is asked and however much is allowed, all of a pack is within it, and takes what it says it does."""
    pack = packed(engine, " ".join(words), max_tokens)

    if pack is not None and pack.excerpts:
        assert pack.tokens == tokens.count(render.markdown(pack))
        assert pack.tokens <= max_tokens


@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), max_tokens=st.integers(LEAST_TO_FILL, 6_000))
@settings(max_examples=40, deadline=None)
def test_budget_is_used_where_there_is_enough_to_say(engine: Engine, words: list[str], max_tokens: int) -> None:
    """Where twice the budget would hold more than the budget, at least 70 % of the budget are used."""
    more = packed(engine, " ".join(words), 2 * max_tokens)

    pack = packed(engine, " ".join(words), max_tokens)

    is_enough = more is not None and more.tokens >= max_tokens
    assert not is_enough or (pack is not None and pack.tokens >= LEAST_USED * max_tokens)


@pytest.mark.parametrize("words", ["flaky test", "certificate check", "rounding money", "slow query"])
def test_every_citation_resolves(engine: Engine, words: str) -> None:
    """Each excerpt is shown by its uuid, in the session that is cited."""
    excerpts = engine.context(words, 6_000).excerpts

    homes = [one.shown.stored.link.places[0].session for one in excerpts]
    shown = [engine.show(one.shown.stored.part.uuid) for one in excerpts]

    assert homes == [one.session.id if one.session else None for one in shown]
