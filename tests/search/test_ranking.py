"""How words and meaning are added up."""

import msgspec
import pytest

from searchkit.backends.base import Hit
from searchkit.indexing.embed_parts import feature
from searchkit.query.parse import understand
from searchkit.query.types import Period, Query, Span
from searchkit.search.ranking import Meant, fuse, meaning, weight_of
from searchkit.search.types import Ranked
from searchkit.search.weights import RECIPE, trusting
from searchkit.types import Kind

RED = Query(text="why was the build red")


@pytest.mark.parametrize(
    ("question", "weight"),
    [
        ("why was the build red", 0.5),
        ("getUserName", 0.3),
        ("src/auth/login.py", 0.3),
        ('"exact words"', 0.3),
        ("为什么构建失败", 0.02),
        ("빌드가 왜 실패했나", 0.02),
        ("почему сборка упала", 0.02),
        ("pourquoi le serveur a-t-il échoué à démarrer", 0.1),
        ("tại sao máy chủ không khởi động được", 0.1),
        ("erreur d'import", 0.1),
        ("warum ist der Build rot", 0.1),
        ("build failed… ‘why’ – really", 0.5),
        ("why branch:fix/login_page is:error failed", 0.5),
    ],
)
def test_meaning_weighs_what_the_question_allows(question: str, weight: float) -> None:
    """Names and quotations are meant as words, and so is what the model cannot read."""
    assert weight == weight_of(understand(question))


def test_chosen_model_is_trusted_with_every_script() -> None:
    """Who chose a model for his language is answered by it."""
    for question in ("为什么构建失败", "pourquoi le serveur a échoué"):
        assert RECIPE.meaning == weight_of(understand(question), trusting(RECIPE))


def test_named_time_counts_for_meaning() -> None:
    """Of two parts that mean the same, the one of the time that the question names comes first, though it is older."""
    query = Query(text="what was red", period=Period(spans=(Span(start=0, end=10),)))
    hits = [msgspec.structs.replace(hit(key), time=time) for key, time in ((1, 50), (2, 5))]

    order = [one.hit.key for one in fuse([], hits, {1: Meant(cosine=0.5), 2: Meant(cosine=0.5)}, query)]

    assert [2, 1] == order


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Kind.TEXT, "Let me check the log.", 0.64),
        (Kind.TEXT, "Great! Now I'll run it.", 0.64),
        (Kind.TEXT, "The root cause is the clock.", 0.88),
        (Kind.TEXT, "x" * 200, 1.0),
        (Kind.TEXT, "Je vais regarder le journal.", 0.64),
        (Kind.TEXT, "D'accord, voyons les tests.", 0.64),
        (Kind.TEXT, "Les doublons viennent de la casse des adresses.", 0.88),
        (Kind.TEXT, "好的，让我看看日志。", 0.64),
        (Kind.TEXT, "根本原因是时钟。", 0.88),
        (Kind.TEXT, "먼저 로그를 확인해 보겠습니다.", 0.64),
        (Kind.TEXT, "원인은 시계입니다.", 0.88),
        (Kind.TEXT, "まずログを確認します。", 0.64),
        (Kind.TEXT, "時計がずれていたためです。", 0.88),
        (Kind.TEXT, "订单" * 34, 1.0),
        (Kind.PROMPT, "let me check", 1.0),
    ],
)
def test_saying_counts_by_its_kind(kind: Kind, text: str, expected: float) -> None:
    """Narration counts less, a conclusion more, and what a person typed as it is."""
    assert expected == pytest.approx(feature(kind, text))


def test_what_only_meaning_found_is_ranked_too() -> None:
    """It comes before what holds one of the words and means something else."""
    words = [ranked(1, 0.1)]

    order = [one.hit.key for one in fuse(words, [hit(2)], {1: Meant(cosine=0.0), 2: Meant(cosine=0.9)}, RED)]

    assert [2, 1] == order


def test_result_means_what_its_call_means() -> None:
    """A share of it, since results have no vectors of their own."""
    found = meaning(hit(1, Kind.TOOL_RESULT), Meant(cosine=0.5, is_of_call=True))

    assert 0.5 * 0.8 * 0.85 == pytest.approx(found)


def test_answer_also_means_what_its_prompt_means() -> None:
    """A share of it, beside what it means itself; a prompt that means the opposite takes nothing away."""
    far, near = (meaning(hit(1), Meant(cosine=0.5, prompt=prompt)) for prompt in (-0.5, 0.5))

    assert (0.5, 0.5 + 0.1 * 0.5) == pytest.approx((far, near))


def test_opposite_meaning_takes_nothing_away() -> None:
    """A negative cosine counts as none."""
    assert 0.0 == meaning(hit(1), Meant(cosine=-0.5))


def ranked(key: int, own: float) -> Ranked:
    """Make a hit that words gave so much."""
    return Ranked(hit=hit(key), weight=1.0, own=own, score=own)


def hit(key: int, kind: Kind = Kind.TEXT) -> Hit:
    """Make a hit in a session of its own."""
    return Hit(key=key, position=key, kind=kind, session=key, time=0, is_agents=False, score=0.0, coverage=0.0)
