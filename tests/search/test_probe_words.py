"""Words are found in any form, inside names and paths, with or without accents, and in scripts without spaces."""

import unicodedata
from collections.abc import Iterator

import pytest

from searchkit import Engine
from searchkit.search.types import Passage
from searchkit.text.sanitize import clean
from tests.support.answers import SESSION
from tests.support.probe import every, searched, texts
from tests.support.transcript import Home

COMMIT = "3f2a9bc14d5e6f708192a3b4c5d6e7f8091a2b3c"
DECOMPOSED = unicodedata.normalize("NFD", "pièce jointe 첨부물.pdf")

# A text and questions each of which must find it, and put it first.
FOUND = {
    "我们需要修复认证模块的内存泄漏问题": ["认证", "泄漏", "内存泄漏", "修复认证模块"],
    "读progress文件": ["文件"],
    "Gogs에 푸시했다": ["Gogs", "gogs", "푸시"],
    "읽markdown파일": ["markdown", "파일"],
    "把config.yaml移到etcd里": ["config.yaml", "yaml", "etcd"],
    "누수율이 높다": ["누수율", "누수율을", "누수율은"],
    "자가치유 기능": ["자가치유 기능", "기능"],
    "검색 엔진을 다시 만든다": ["검색엔진", "검색 엔진", "검색엔진을"],
    "検索エンジンを作り直す": ["検索", "エンジン", "検索エンジン"],
    "ทดสอบระบบค้นหา": ["ระบบ", "ค้นหา"],
    "les données corrompues du système": [
        "donnee corrompue",
        "données corrompues",
        "DONNEES",
        "corrompu",
        "systeme",
    ],
    "les fautes corrigées hier": ["corrigé", "corrigee", "corrigés", "faute"],
    "requête refusée par le proxy": ["refusé", "refusees", "requete"],
    "Ein Gruß aus der Straße": ["strasse", "gruss", "Straße"],
    DECOMPOSED: ["pièce", "piece", "첨부물"],
    "Сервер упал ночью": ["сервер", "Ночью"],
    "call getUserName first": ["getUserName", "getusername", "GETUSERNAME"],
    "an HTTPServer listens": ["http server", "HTTPServer", "httpserver", "server http"],
    "then parseJSONBody fails": ["json body", "parse body"],
    "a base64Encode helper": ["encode", "base64"],
    "set MAX_RETRY_COUNT to 3": ["max_retry_count", "MAX_RETRY_COUNT", "retry count"],
    "look at src/auth/login.py now": ["login.py", "auth login", "src/auth/login.py", "auth/login.py", "login"],
    r"in C:\Users\mira\shop\basket.ts": ["basket.ts", r"shop\basket.ts", "users mira"],
    "use std::vec::Vec<u8> there": ["vec", "std::vec::Vec", "std vec", "u8"],
    "pinned numpy 1.26.4 again": ["1.26.4", "numpy 1.26.4", "numpy==1.26.4"],
    f"landed as {COMMIT} on main": [COMMIT[:7], COMMIT[:12], COMMIT, COMMIT.upper()],
    "fixed by 9e8d7c6 yesterday": ["9e8d7c6", "9e8d7c6b00112233445566778899aabbccddeeff"],
    "\x1b[31mTypeEr\x1b[1mror\x1b[0m: undefined\x1b[K is \x1b]8;;x\x07callable": ["TypeError", "undefined", "callable"],
    "🎉shipped🎉 today": ["shipped", "🎉 shipped", "shipped🎉"],
    "error TS2345: no overload": ["TS2345", "ts2345"],
    "with --no-verify set": ["--no-verify", "no-verify"],
    "https://docs.example.com/guide?id=77": ["docs.example.com", "example guide", "https://docs.example.com/guide"],
    "mail jo@works.org soon": ["jo@works.org", "works.org"],
    "the x86_64-linux wheel": ["x86_64", "x86_64-linux"],
}
# Words each of which finds all the others.
ALIKE = [
    "retry retries retried retrying",
    "configure configures configured configuring configuration configurations",
    "run runs running",
    "stop stops stopped stopping",
    "cache caches cached caching",
    "index indexes indexed indexing",
    "deploy deploys deployed deploying deployment deployments",
    "query queries queried querying",
    "hope hopes hoped hoping",
    "donnée données donnee donnees",
    "corrigé corrigés corrigée corrigées",
    "fichier fichiers",
]
# Words that only look alike.
UNLIKE = [("user", "use"), ("news", "new"), ("university", "universe"), ("port", "report"), ("cat", "category")]
# Of two texts that hold the question, the first ranks first.
BETTER = [
    ("get_user_name", "the get_user_name call", "the user name call"),
    ("is_error", "then is_error was set", "then an error was set"),
    ("getUserName", "the getUserName call", "the get_user_name call"),
    ("retries", "three retries left", "three retry left"),
    ("auth/login.py", "open auth/login.py there", "open login.py auth there"),
    ("slow query", "the slow query", "the slow slow slow slow thing"),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of the texts, each a prompt of its own."""

    def write(home: Home) -> None:
        transcript = home.session(SESSION)
        for text in FOUND:
            transcript.prompt(text)

    with searched(tmp_path_factory.mktemp("words"), write) as opened:
        yield opened


@pytest.mark.parametrize(
    ("text", "asked"), [(text, asked) for text, questions in FOUND.items() for asked in questions], ids=str
)
def test_text_is_found_first(engine: Engine, text: str, asked: str) -> None:
    """However a word is written, the text that holds it comes first."""
    assert clean(text) == texts(engine, asked)[0]


def test_latin_word_between_other_scripts(engine: Engine) -> None:
    """A name glued to Chinese or Korean is a word of its own."""
    assert ["读progress文件"] == texts(engine, "progress")


def test_one_character_of_many_is_found(engine: Engine) -> None:
    """A single character is found inside a run, too."""
    assert ["我们需要修复认证模块的内存泄漏问题"] == texts(engine, "存")


def test_whole_lower_case_name_is_not_taken_apart(engine: Engine) -> None:
    """Nothing says where `username` could be cut, so it does not find `getUserName`."""
    assert [] == texts(engine, "username")


@pytest.mark.parametrize("family", ALIKE)
def test_forms_of_a_word_find_each_other(tmp_path_factory: pytest.TempPathFactory, family: str) -> None:
    """Any form finds every other, and itself first; each is marked whole."""
    words = family.split()

    def write(home: Home) -> None:
        for word in words:
            home.session(f"{words.index(word):08}-0000-4000-8000-000000000000").prompt(f"the {word}!")

    with searched(tmp_path_factory.mktemp("forms"), write) as engine:
        for word in words:
            found = [result.best for result in every(engine, word)]
            assert set(words) == {_marked(best.passage) for best in found}
            assert _folded(word) == _folded(_marked(found[0].passage))


def _marked(passage: Passage) -> str:
    """Return the only word that is marked."""
    (span,) = passage.highlights
    return passage.text[slice(*span)]


def _folded(word: str) -> str:
    return word.replace("é", "e")


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of pairs of texts, each pair in a project of its own."""

    def write(home: Home) -> None:
        rows = [*((one, f"it is {one}", f"it is {other}") for one, other in UNLIKE), *BETTER]
        for number, (_, *both) in enumerate(rows):
            transcript = home.session(f"{number:08}-0000-4000-8000-000000000000", cwd=f"/src/pair{number:02}")
            # The worse one is the newer, so that being new does not decide.
            for text in both:
                transcript.prompt(text)

    with searched(tmp_path_factory.mktemp("pairs"), write) as opened:
        yield opened


@pytest.mark.parametrize(("number", "words"), list(enumerate(UNLIKE)), ids=str)
def test_words_that_only_look_alike(pairs: Engine, number: int, words: tuple[str, str]) -> None:
    """A word does not find another that merely begins like it."""
    assert [f"it is {words[0]}"] == texts(pairs, f"{words[0]} project:pair{number:02}")
    assert [f"it is {words[1]}"] == texts(pairs, f"{words[1]} project:pair{number:02}")


@pytest.mark.parametrize(("number", "row"), list(enumerate(BETTER, len(UNLIKE))), ids=str)
def test_what_was_typed_ranks_first(pairs: Engine, number: int, row: tuple[str, str, str]) -> None:
    """Of two texts that hold the words, the one that holds them as they were typed comes first."""
    asked, better, worse = row

    assert [better, worse] == texts(pairs, f"{asked} project:pair{number:02}")
