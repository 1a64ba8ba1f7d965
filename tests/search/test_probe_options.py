"""Filters, orders, grouping, facets and explanations of `searchkit search`, as a program or a person asks for them."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from searchkit.backends.local.open import writing
from searchkit.query.filters import NAMES
from tests.support.answers import OTHER, SESSION, THIRD
from tests.support.probe import searched
from tests.support.running import Run
from tests.support.transcript import Home

Ask = Callable[..., list[str]]


def write(home: Home) -> None:
    """Write three sessions that all speak of a lantern; every text has a name of its own as its last word."""
    shop = home.session(SESSION, branch="fix/lamp")
    shop.line({"type": "custom-title", "customTitle": "Lights of the shop", "sessionId": SESSION})
    shop.prompt("lantern asked")
    shop.thinking("why is the lantern where it was thought")
    call = shop.call("Edit", {"file_path": "/home/mira/src/shop/lamp.py", "new_string": "lantern called"})
    shop.result(call, "lantern failed", is_error=True)
    shop.compact("lantern summed")
    home.agent(SESSION, "abc1234").text("lantern delegated", timestamp="2026-03-02T12:00:00Z")
    home.meta(SESSION, "abc1234", agentType="Explore")
    web = home.session(OTHER, cwd="/home/mira/src/web", model="claude-haiku-4-5")
    web.prompt("lantern remote", timestamp="2026-04-10T12:00:00Z")
    web.text("lantern answered lantern lantern", timestamp="2026-04-10T12:00:01Z")
    web.call("mcp__github__search", {"query": "lantern searched"}, timestamp="2026-04-10T12:00:02Z")
    home.session(THIRD, cwd="/home/mira/src/old").prompt("lantern ancient", timestamp="2025-01-10T12:00:00Z")
    home.plan("brave", "la lantern dans le plan planned")


@pytest.fixture(scope="module")
def lanterns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of them, made once."""
    directory = tmp_path_factory.mktemp("options")
    with searched(directory, write):
        return directory / "index"


@pytest.fixture
def filled(lanterns: Path, tmp_path: Path, run: Run) -> Run:
    """Give a function that runs a command on a copy of that index."""
    shutil.copytree(lanterns, tmp_path / "index")
    return run


@pytest.fixture
def ask(filled: Run) -> Ask:
    """Give a function that searches and names the texts found, in order."""

    def found(*arguments: str) -> list[str]:
        answer = filled("search", *arguments, "--json", "--group", "none", "--limit", "50")
        assert answer.status == (0 if answer.json["results"] else 1)
        return [result["snippet"].replace("lantern", "").split()[-1] for result in answer.json["results"]]

    return found


SHOP = {"asked", "thought", "called", "failed", "summed", "delegated"}
WEB = {"remote", "answered", "searched"}
ALL = SHOP | WEB | {"ancient", "planned"}
FILTERED: list[tuple[str, str, set[str]]] = [
    ("project", "shop", SHOP),
    ("project", "/home/mira/src/web", WEB),
    ("project", "mira", SHOP | WEB | {"ancient"}),
    ("session", SESSION[:6], SHOP),
    ("agent", "abc", {"delegated"}),
    ("agent", "explore", {"delegated"}),
    ("agent-app", "claude", SHOP | WEB | {"ancient", "planned"}),
    ("branch", "LAMP", SHOP - {"delegated"}),
    ("tool", "Edit", {"called", "failed"}),
    ("tool", "github", {"searched"}),
    ("kind", "prompt", {"asked", "remote", "ancient"}),
    ("kind", "thinking,summary", {"thought", "summed"}),
    ("kind", "plan", {"planned"}),
    ("role", "assistant", {"thought", "called", "delegated", "answered", "searched", "planned"}),
    ("language", "en", {"thought"}),
    ("language", "French", {"planned"}),
    ("language", "fr,en", {"thought", "planned"}),
    ("model", "haiku", {"answered", "searched"}),
    ("file", "lamp.py", {"called", "failed"}),
    ("title", "of the shop", SHOP),
    ("is", "error", {"failed"}),
    ("is", "sidechain", {"delegated"}),
    ("is", "summary", {"summed"}),
    ("after", "2026-04-01", WEB | {"planned"}),
    ("before", "2026-01-01", {"ancient"}),
    ("on", "2026-03", SHOP),
]


@pytest.mark.parametrize(
    ("name", "value", "expected"), FILTERED, ids=[f"{name}:{value}" for name, value, _ in FILTERED]
)
def test_filter_as_option_and_as_word(ask: Ask, name: str, value: str, expected: set[str]) -> None:
    """An option and the same word in the text find the same, and excluding it finds all the rest."""
    quoted = f'{name}:"{value}"' if " " in value else f"{name}:{value}"

    found = [set(ask("lantern", *rest)) for rest in ((f"--{name}", value), (quoted,), (f"-{quoted}",))]

    assert [expected, expected, ALL - expected] == found


def test_every_filter_is_tried() -> None:
    """No filter is left out above."""
    assert set(NAMES) == {name for name, _, _ in FILTERED}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("project:shop project:web -kind:thinking", (SHOP | WEB) - {"thought"}),
        ("project:shop role:assistant -is:sidechain", {"thought", "called"}),
        ("tool:Edit is:error", {"failed"}),
        ("tool:Edit -is:error", {"called"}),
        ("project:shop project:web after:2026-04-01", WEB),
        ("-project:shop -project:web -kind:plan", {"ancient"}),
        ("kind:prompt kind:text -project:old", {"asked", "remote", "answered", "delegated"}),
        ("kind:plan is:error", set()),
    ],
)
def test_filters_together(ask: Ask, asked: str, expected: set[str]) -> None:
    """Values of one name are joined by or, different names by and, and what excludes takes away."""
    assert expected == set(ask("lantern", asked))
    assert expected <= set(ask(asked))


@pytest.mark.parametrize("word", ["-n", "-1", "-/lant.+ ask/", '-"lantern asked"', "-(x)", "-.5", "-x=y", "-é", "-"])
def test_hyphen_makes_no_option(ask: Ask, word: str) -> None:
    """What begins with one hyphen is a word or excludes one, wherever it stands."""
    expected = ALL - {"asked"} if "ask" in word else ALL

    assert [expected] * 2 == [set(ask("lantern", word, "4")), set(ask(word, "lantern"))]


def test_unknown_option_is_an_error(filled: Run) -> None:
    """Two hyphens make an option, which must exist; -h shows help."""
    assert (2, True) == ((answer := filled("search", "lantern", "--nope")).status, "No such option" in answer.err)
    assert (0, True) == ((answer := filled("search", "-h")).status, "Usage:" in answer.out)


def test_order_of_time(ask: Ask) -> None:
    """Newest and oldest go by time alone; otherwise what says most of the word comes first."""
    newest = ask("lantern", "--sort", "newest", "-kind:plan")

    assert newest == ask("lantern", "--sort", "oldest", "-kind:plan")[::-1]
    assert (["searched", "answered", "remote"], "ancient") == (newest[:3], newest[-1])
    assert "answered" == ask("lantern")[0]


def test_one_result_a_session_or_every_hit(filled: Run) -> None:
    """By default a session is one result with its further passages; `--group none` shows each by itself."""
    grouped = filled("search", "lantern", "--json").json["results"]
    single = filled("search", "lantern", "--json", "--group", "none").json["results"]

    sessions = [result["session"] for result in grouped]
    assert ({SESSION, OTHER, THIRD, None}, 4) == (set(sessions), len(sessions))
    assert all(len(result["others"]) <= 2 for result in grouped)
    assert any(result["others"] for result in grouped)
    assert (10, []) == (len(single), [other for result in single for other in result["others"]])


def test_facets(filled: Run) -> None:
    """All matches are counted by their values, for programs and as bars."""
    answer = filled("search", "lantern", "--facets", "project,kind, tool,month,is", "--json").json
    shown = filled("search", "lantern", "--facets", "project").out

    facets = answer["facets"]
    assert {"/home/mira/src/shop": 6, "/home/mira/src/web": 3, "/home/mira/src/old": 1} == facets["project"]
    assert {"Edit": 2, "mcp__github__search": 1} == facets["tool"]
    assert {"error": 1, "sidechain": 1, "summary": 1} == facets["is"]
    assert {"prompt": 3, "tool_call": 2, "text": 2} == {kind: n for kind, n in facets["kind"].items() if n > 1}
    assert 6 == facets["month"]["2026-03"]
    assert ["project", "/home/mira/src/shop", "6"] == shown[shown.index("project\n") :].split()[:3]


def test_facets_of_nothing(filled: Run) -> None:
    """Where nothing matches there is nothing to count."""
    assert {"kind": {}, "month": {}} == filled("search", "xylophone", "--facets", "kind,month", "--json").json["facets"]


def test_unknown_facet_is_an_error(filled: Run) -> None:
    """A facet that does not exist is refused, with those that do."""
    answer = filled("search", "lantern", "--facets", "weather", "--json")

    assert (2, True) == (answer.status, "project" in answer.json["error"]["hint"])


def test_explained(filled: Run) -> None:
    """With --explain the question is told as understood, and each result what made its score."""
    shown = filled("search", "lantern nowhere", "--explain").out

    assert 4 == shown.count("of the highest possible")
    assert "as text x" in shown


def test_did_you_mean(filled: Run) -> None:
    """A word that is nowhere offers those most like it where other words were found."""
    beside, shown = filled("search", "lantren", "asked", "--json"), filled("search", "lantren", "asked")

    assert (0, ["lantern"]) == (beside.status, beside.json["did_you_mean"]["lantren"])
    assert "did you mean lantern?" in shown.err
    assert {} == filled("search", "lantern", "--json").json["did_you_mean"]


def test_empty_because(filled: Run, tmp_path: Path) -> None:
    """An empty answer says whether nothing matches, filters keep it away, or it is not indexed yet."""
    nothing = filled("search", "xylophone", "--json").json
    filtered = filled("search", "lantern", "project:old", "is:error", "--json").json
    for file in (tmp_path / "index" / "keyword").iterdir():
        file.unlink()
    with writing(tmp_path / "index" / "lock", wait=False):
        unindexed = filled("search", "lantern", "--json").json

    assert ("no_match", 0) == (nothing["empty_because"], nothing["hidden_by_filters"])
    assert ("filtered", 11) == (filtered["empty_because"], filtered["hidden_by_filters"])
    assert ("not_indexed", 0) == (unindexed["empty_because"], unindexed["hidden_by_filters"])


def test_empty_answer_tells_people_why(filled: Run) -> None:
    """A filter that keeps all away says how much, and one that nothing has names the nearest."""
    assert "without them 11 parts would" in filled("search", "lantern", "project:old", "is:error").err
    assert "did you mean /home/mira/src/shop" in filled("search", "lantern", "project:shp").err
    assert "Nothing matches 'xylophone'." in filled("search", "xylophone").err


@pytest.mark.parametrize("words", ["", "  ", '""'])
def test_blank_question_is_told_what_to_type(filled: Run, words: str) -> None:
    """Where nothing was asked, nothing is found, and what could be typed is said instead of what matches."""
    answer = filled("search", words)

    assert (1, "") == (answer.status, answer.out)
    assert answer.err.startswith("Nothing was asked: type words, ")
    assert "matches" not in answer.err


def test_many_questions_in_one_process(filled: Run, tmp_path: Path) -> None:
    """A file of questions, each with its own filters, is answered line by line."""
    asked = [
        {"id": "a", "query": "lantern", "project": "web"},
        {"id": 2, "query": "lantern", "kind": ["thinking", "plan"], "note": "not a filter"},
        {"id": "none", "query": "xylophone"},
        {"query": 'lantern "unbalanced'},
    ]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n\n".join(map(json.dumps, asked)))

    answer = filled("search", "--queries", str(file))

    lines = [json.loads(line) for line in answer.out.splitlines()]
    assert (0, ["a", 2, "none", None]) == (answer.status, [line["id"] for line in lines])
    assert {OTHER} == {result["session"] for result in lines[0]["results"]}
    assert {"thinking", "plan"} == {result["kind"] for result in lines[1]["results"]}
    assert [] == lines[2]["results"]


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"query": 5}'])
def test_question_that_is_none_is_named(filled: Run, tmp_path: Path, line: str) -> None:
    """A line that holds no question stops with its place."""
    file = tmp_path / "questions.jsonl"
    file.write_text(f'{{"query": "lantern"}}\n{line}\n')

    answer = filled("search", "--queries", str(file))

    assert (2, True) == (answer.status, "questions.jsonl:2" in answer.err)


def test_numbers_of_the_last_search(filled: Run) -> None:
    """A result's number leads other commands to its session; programs and empty answers do not change it."""
    first = filled("search", "lantern", "--json").json["results"][0]
    unseen = filled("resume", "1")
    filled("search", "lantern")
    filled("search", "lantern ancient", "--json")
    filled("search", "xylophone")

    resumed = filled("resume", "1")

    assert 2 == unseen.status
    assert (0, True) == (resumed.status, first["session"] in resumed.out)


def test_remembering_leaves_nothing_behind(filled: Run, tmp_path: Path) -> None:
    """The file that a search writes and puts into place has a name of its own and is gone afterwards."""
    filled("search", "lantern")

    assert ["last-search.json"] == [path.name for path in (tmp_path / "index").glob("*last*")]
