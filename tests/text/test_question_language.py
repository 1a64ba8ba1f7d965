"""What is done for questions in other languages than English."""

from pathlib import Path

import pytest

from searchkit import Engine
from searchkit.backends.base import Hit
from searchkit.backends.local.words.highlight import marks
from searchkit.query.parse import understand
from searchkit.query.types import Clause, Query, Term
from searchkit.search.ranking import rank
from searchkit.text.analysis import beginning, french_forms, unelided
from searchkit.text.language import is_in_english, is_in_french, word_count
from searchkit.types import Kind
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"


@pytest.mark.parametrize(
    "question",
    [
        "pourquoi les tests sont instables",
        "donnee corrompue a l'import c'était quoi",
        "prix périmé en cache",
        "annulation de migration en conservant les remises",
        "invalid signature jetons apres deploiement",
        "mauvais encodage du fichier des clients",
    ],
)
def test_question_in_french_is_known(question: str) -> None:
    """Also of few words, and without accents."""
    assert (True, False) == (is_in_french(question), is_in_english(question))


@pytest.mark.parametrize(
    "question",
    [
        "why was ci red",
        "comment parser",
        "pull request comment",
        "sans serif font",
        "du -sh",
        "EADDRINUSE port 3000",
        "getUserName",
        "don't use it's cache",
        "",
    ],
)
def test_question_of_names_is_taken_for_english(question: str) -> None:
    """What is of no language is asked for as in English."""
    assert (False, True) == (is_in_french(question), is_in_english(question))


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("", 0),
        ("build is red", 3),
        ("连接池", 2),
        ("读progress文件", 3),
        ("백필 속도가 왜", 4),
        ("src/auth/login.py", 1),
    ],
)
def test_words_are_counted_without_spaces_too(question: str, words: int) -> None:
    """A sentence in Chinese is not one word."""
    assert words == word_count(question)


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ("comment le fusionner", "Fiches fusionnées hier."),
        ("on a fusionné quoi", "Il faut les fusionner."),
        ("quand on déploie", "Un déploiement est prévu."),
        ("pourquoi échouait-il", "Deux essais échouent."),
        ("accélérer l'import", "Nette accélération."),
        ("jetons renouvelés", "Le renouvellement marche."),
        ("fichier corrompu", "Des données corrompues."),
        ("les taux nationaux", "Le cadre national."),
    ],
)
def test_word_in_french_is_found_in_other_forms(home: Home, tmp_path: Path, asked: str, held: str) -> None:
    """An infinitive finds participles, conjugated forms and the nouns made of them, and each of these the others."""
    home.session(SESSION).prompt(held)
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        assert [held] == [result.best.stored.part.text for result in engine.search(asked).results]


def test_words_in_english_have_no_french_forms(home: Home, tmp_path: Path) -> None:
    """What is carried finds who carries in French only."""
    home.session(SESSION).prompt("porteur")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        assert (0, 1) == (engine.search("the portage").total, engine.search("dans le portage").total)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("comment on avait réglé le quota", "quota relevé", "comment ça avait marché"),
        ("那个连接池怎么样", "连接池的上限是五十", "怎么样了"),
        ("为什么缓存", "缓存没有上限", "为什么要这样"),
        ("백필 어떻게 했더라", "백필을 묶어서 저장", "재고 어떻게 했더라"),
        ("누수율 왜", "누수율 분모", "왜 이렇게"),
        ("予約 どう", "予約の一覧", "どうなった"),
    ],
)
def test_question_words_are_not_looked_for(home: Home, tmp_path: Path, question: str, answer: str, other: str) -> None:
    """How, why and which say nothing of what is sought, in any of these languages."""
    transcript = home.session(SESSION)
    transcript.prompt(other)
    transcript.text(answer)
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        found = [result.best.stored.part.text for result in engine.search(question, group="none").results]

    assert [answer] == found


def test_question_word_alone_is_looked_for(home: Home, tmp_path: Path) -> None:
    """Who asks for nothing else means it."""
    home.session(SESSION).prompt("为什么要这样")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        assert 1 == engine.search("为什么").total


def test_comment_is_a_word_in_english(home: Home, tmp_path: Path) -> None:
    """Small words of French that mean something in English are looked for there."""
    home.session(SESSION).prompt("a comment")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        assert (1, 0) == (engine.search("comment parser").total, engine.search("comment régler le quota").total)


def test_answer_comes_before_the_prompt_that_says_the_same() -> None:
    """In other languages than English, where meaning does not tell them apart."""
    hits = [hit(1, Kind.PROMPT, 0.5), hit(2, Kind.TEXT, 0.42)]

    orders = [
        [one.hit.key for one in rank(hits, understand(text))]
        for text in ("why was the build red", "pourquoi le build est rouge", "为什么构建失败")
    ]

    assert [[1, 2], [2, 1], [2, 1]] == orders


def test_forms_of_a_french_word_are_marked() -> None:
    """What was found is seen to be found, and small words are not marked."""
    clauses = tuple(Clause(terms=(Term(text=word),)) for word in "comment on a fusionné".split())
    text = "On va fusionner, comment dire, et la fusion suit."

    found = marks(Query(text="comment on a fusionné", clauses=clauses), text)

    assert ["fusionner"] == [text[start:end] for start, end in found]


def test_elided_words_are_taken_off() -> None:
    """What stands before an apostrophe is a word of its own, in capitals too; in names it is kept."""
    assert " import  il O'Brien" == unelided("l'import qu’il O'Brien")


def test_short_words_have_no_other_forms() -> None:
    """Too much would be made of them."""
    assert ((), "mot") == (french_forms("mot"), beginning("mot"))


def hit(key: int, kind: Kind, score: float) -> Hit:
    """Make a hit of a session of its own."""
    return Hit(key=key, position=key, kind=kind, session=key, time=None, is_agents=False, score=score, coverage=1.0)
