"""The doctor judges: what is usual alarms nobody, and of all else it is said what it means and what to do."""

import re

import pytest

from searchkit.backends.local.catalog import repair
from searchkit.render import health
from searchkit.render.health import Verdict
from searchkit.types import Finding
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
CALM = '{"cleanupPeriodDays": 99999}'


@pytest.fixture
def calm(home: Home) -> Home:
    """A root whose transcripts are kept."""
    home.write(home.root / "settings.json", CALM)
    return home


def found(*kinds: str) -> list[Finding]:
    """Return a finding of each kind."""
    return [Finding(kind=kind, file="x", line=1) for kind in kinds]


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ((), "Fine."),
        (("missing parent", "call without result"), "Fine."),
        (("torn line", "torn line", "missing parent"), "1 thing to know, nothing to do."),
        (("torn line", "unknown type"), "2 things to know, nothing to do."),
        (("unreadable",), "1 thing to do."),
        (("unreadable", "index: damaged", "torn line"), "2 things to do, 1 thing to know."),
    ],
)
def test_summary_counts_kinds_and_not_places(kinds: tuple[str, ...], said: str) -> None:
    """One line says how many kinds of things there are to do and to know."""
    assert said == health.summary(health.groups(found(*kinds)))


def test_what_there_is_to_do_comes_first() -> None:
    """Kinds are ordered by how much they matter."""
    grouped = health.groups(found("missing parent", "torn line", "unreadable", "torn line"))

    assert [("unreadable", 1), ("torn line", 2), ("missing parent", 1)] == [
        (group.kind, len(group.findings)) for group in grouped
    ]
    assert [Verdict.ACT, Verdict.WORTH_KNOWING, Verdict.FINE] == [group.diagnosis.verdict for group in grouped]


def test_every_kind_that_is_looked_for_has_a_meaning_of_its_own() -> None:
    """Nothing of a transcript falls back to what is said of the unknown; the index has it where a rebuild mends it."""
    kinds = [*repair._QUERIES, "cycle", "torn line", "unknown type", "unreadable", "not JSON"]
    unknown = health.diagnosis("a kind of tomorrow")

    assert [] == [kind for kind in kinds if health.diagnosis(kind) == unknown]
    assert Verdict.WORTH_KNOWING == unknown.verdict
    assert {Verdict.ACT} == {health.diagnosis(f"index: {kind}").verdict for kind in repair._HEALTH}


def test_usual_things_are_fine(calm: Home, run: Run) -> None:
    """Calls without result, missing parents and milliseconds backwards are no alarm; --full shows their places."""
    transcript = calm.session(SESSION)
    transcript.prompt("one", timestamp="2026-03-01T10:00:10.000Z")
    transcript.text("two", timestamp="2026-03-01T10:00:09.990Z", parent="99999999-9999-4999-8999-999999999999")
    transcript.call("Bash", {"command": "ls"}, timestamp="2026-03-01T09:59:00.000Z")
    run("index")

    short, full = run("doctor"), run("doctor", "--full")

    assert ["Fine.", ""] == short.out.splitlines()[:2]
    assert "missing parent: 1, call without result: 1. --full shows them." in " ".join(short.out.split())
    assert SESSION not in short.out
    assert "backwards" not in full.out
    assert f"{SESSION}.jsonl:2" in full.out


def test_each_finding_says_what_to_do(calm: Home, run: Run) -> None:
    """A kind that matters has its verdict, how often it is there, a meaning, an advice, and the first places."""
    transcript = calm.session(SESSION)
    transcript.prompt("one")
    for number in range(5):
        transcript.raw(b'b80","timestamp":%d}\n' % number)
    run("index")

    lines = run("doctor").out.splitlines()

    assert ["1 thing to know, nothing to do.", "", "worth knowing: torn line: 5"] == lines[:3]
    assert 1 == sum(line.startswith("  What to do: Nothing.") for line in lines)
    assert 3 == sum(bool(re.search(rf"{SESSION}\.jsonl:\d+", line)) for line in lines)
    assert "    and 2 more (--full shows them)" == lines[-1]


def test_programs_get_verdicts_and_every_place(calm: Home, run: Run) -> None:
    """JSON has the verdict over all, each kind with its count, and every finding as before, with its verdict."""
    transcript = calm.session(SESSION)
    transcript.prompt("one")
    transcript.raw(b'b80","timestamp":1}\n')
    transcript.call("Bash", {"command": "ls"})
    run("index")

    answer = run("doctor", "--json")

    assert (0, "worth knowing", "1 thing to know, nothing to do.") == (
        answer.status,
        answer.json["verdict"],
        answer.json["summary"],
    )
    assert [("torn line", 1, "worth knowing"), ("call without result", 1, "fine")] == [
        (group["kind"], group["count"], group["verdict"]) for group in answer.json["groups"]
    ]
    assert all(group["meaning"] and group["advice"] for group in answer.json["groups"])
    assert {"kind", "file", "line", "detail", "verdict"} == set(answer.json["findings"][0])
    assert answer.json["retention"]["is_calm"]


def test_a_sound_history_is_fine(calm: Home, run: Run) -> None:
    """Where all is well, one word says so."""
    calm.session(SESSION).prompt("where is the lantern")
    run("index")

    assert "Fine.\n" == run("doctor").out
