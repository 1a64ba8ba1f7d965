"""What Claude Code deletes, and when: told by status, doctor, the first index, and changed only when asked."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from searchkit.engine import Engine
from tests.support.running import Run
from tests.support.transcript import Home

DAY = 86_400
NOW = int(datetime(2026, 6, 1, 12, tzinfo=UTC).timestamp())
OLD, NEW = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"

Write = Callable[[str], None]


@pytest.fixture
def settings(home: Home, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Two transcripts that were written to 20 days and 1 day before a fixed day; gives what writes settings."""
    monkeypatch.setattr("searchkit.engine.now", lambda: NOW * 1000)
    for session, days in ((OLD, 20), (NEW, 1)):
        path = home.session(session).path
        home.session(session).prompt("where is the lantern")
        aged(path, days)

    def write(text: str) -> None:
        home.write(home.root / "settings.json", text)

    return write


def aged(path: Path, days: float) -> None:
    """Let a file look as if it was written to so many days ago."""
    os.utime(path, (NOW - days * DAY, NOW - days * DAY))


def told(run: Run) -> dict[str, Any]:
    """Return what status says of retention."""
    found: dict[str, Any] = run("status", "--json").json["retention"]
    return found


def test_default_is_30_days_and_the_oldest_is_due_after_them(settings: Write, run: Run) -> None:
    """Without settings the oldest transcript falls due 30 days after it was written to."""
    first = run("index")

    found = told(run)
    assert (30, False, []) == tuple(found["roots"][0][name] for name in ("days", "is_set", "faults"))
    assert ("2026-06-11T12:00:00.000Z", 0, 2) == (
        found["first_due"],
        found["overdue"],
        found["roots"][0]["transcripts"],
    )
    assert {"transcripts": 0, "bytes": 0} == found["unread"]
    assert ("cleanupPeriodDays", "searchkit keep", False) == (found["setting"], found["command"], found["is_calm"])
    assert "after 30 days, its default: the oldest of 2 transcripts is due on 2026-06-11." in run("status").out
    assert first.err.count("note:") == 2
    assert "2026-06-11" in first.err
    assert "searchkit keep" in first.err


def test_only_the_first_index_tells(settings: Write, run: Run) -> None:
    """Who has read it once is not told again by every run."""
    run("index")

    again = run("index")

    assert "" == again.err


def test_three_days_are_overdue(settings: Write, run: Run, home: Home) -> None:
    """What is older than the setting goes with the next start; the last sweep is told where it is known."""
    settings('{"cleanupPeriodDays": 3}')
    home.write(home.root / ".last-cleanup", "2026-05-30T08:00:00.000Z")
    run("index")

    found = told(run)

    assert (3, True, 1) == (found["roots"][0]["days"], found["roots"][0]["is_set"], found["overdue"])
    assert ("2026-05-15T12:00:00.000Z", "2026-05-30T08:00:00.000Z") == (
        found["first_due"],
        found["roots"][0]["last_sweep"],
    )
    assert "after 3 days: 1 of 2 transcripts is due when it next starts (it last looked on 2026-05-30)." in " ".join(
        found["sentences"]
    )


def test_thirty_days_that_are_set_are_no_default(settings: Write, run: Run) -> None:
    """Somebody who wrote 30 is not told of a default."""
    settings('{"cleanupPeriodDays": 30}')
    run("index")

    assert "after 30 days: the oldest" in run("status").out


def test_who_keeps_all_is_left_in_peace(settings: Write, run: Run) -> None:
    """With 99,999 days there is one calm line in status, and nothing in index and doctor."""
    settings('{"cleanupPeriodDays": 99999}')

    first = run("index")

    found = told(run)
    assert (True, None) == (found["is_calm"], found["command"])
    assert "delet" not in first.err
    lines = [line for line in run("status").out.splitlines() if "delet" in line]
    assert 1 == len(lines)
    assert lines[0].endswith("after 99,999 days: the oldest of 2 transcripts is due on 2300-02-24.")
    assert "Fine.\n" == run("doctor").out


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"cleanupPeriodDays": 99999', "is damaged (no JSON from line 1, column 28 on)"),
        ("[]", "is damaged (it holds no JSON object)"),
        ("[" * 100_000, "is damaged"),
        ('{"cleanupPeriodDays": NaN}', "is damaged (NaN is no JSON)"),
        ('{"cleanupPeriodDays": 0}', "sets cleanupPeriodDays to 0, which is no number of days from 1 on; Claude Code"),
        ('{"cleanupPeriodDays": -1}', "sets cleanupPeriodDays to -1"),
        ('{"cleanupPeriodDays": "99999"}', 'sets cleanupPeriodDays to "99999"'),
        ('{"cleanupPeriodDays": true}', "sets cleanupPeriodDays to true"),
        ('{"cleanupPeriodDays": 1.5}', "sets cleanupPeriodDays to 1.5"),
        ('{"cleanupPeriodDays": 1e999}', "sets cleanupPeriodDays to Infinity"),
    ],
)
def test_settings_that_cannot_be_understood_are_named(settings: Write, run: Run, written: str, said: str) -> None:
    """A damaged file is named with what to do, 30 days are assumed, and everything works as it does without."""
    settings(written)

    assert 0 == run("index").status
    found, doctor = told(run), run("doctor")

    (fault,) = found["roots"][0]["faults"]
    assert 30 == found["roots"][0]["days"]
    assert fault["message"].startswith(said)
    assert fault["file"].endswith("settings.json")
    assert fault["hint"]
    assert fault["message"] in run("status").out
    assert doctor.out.startswith("1 thing to do, 1 thing to know.\n")
    assert (0, True) == (doctor.status, "act: settings not understood" in doctor.out)


def test_settings_that_cannot_be_read_are_named(settings: Write, run: Run, home: Home) -> None:
    """A directory in the place of the settings is named, as is a file without permission."""
    (home.root / "settings.json").mkdir()
    run("index")

    (fault,) = told(run)["roots"][0]["faults"]

    assert fault["message"].startswith("cannot be read (")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_settings_without_permission_are_named(settings: Write, run: Run, home: Home) -> None:
    """What the user may not read says nothing, and is named."""
    settings('{"cleanupPeriodDays": 99999}')
    (home.root / "settings.json").chmod(0)
    run("index")

    found = told(run)

    assert (30, "cannot be read (Permission denied)") == (
        found["roots"][0]["days"],
        found["roots"][0]["faults"][0]["message"],
    )


@pytest.mark.parametrize("written", ["", "yesterday", "9" * 300, "\udcff", "2026-13-41T00:00:00Z"])
def test_damaged_time_of_the_last_sweep_says_nothing(settings: Write, run: Run, home: Home, written: str) -> None:
    """What Claude Code left there need not be a time."""
    home.write(home.root / ".last-cleanup", written.encode(errors="surrogateescape"))
    run("index")

    found = told(run)

    assert (None, []) == (found["roots"][0]["last_sweep"], found["roots"][0]["faults"])


@pytest.mark.parametrize("written", ["", " \n", "{}", '{"cleanupPeriodDays": null}'])
def test_settings_that_say_nothing_are_sound(settings: Write, run: Run, written: str) -> None:
    """Empty settings are those of somebody who has set nothing."""
    settings(written)
    run("index")

    found = told(run)["roots"][0]

    assert (30, False, []) == (found["days"], found["is_set"], found["faults"])


@pytest.mark.parametrize(
    ("own", "local", "days", "decides"),
    [(99_999, 3, 3, "settings.local.json"), (None, 99_999, 30, "settings.json"), (60, 90, 60, "settings.json")],
)
def test_local_settings_count_where_they_are_shorter(
    settings: Write, run: Run, home: Home, own: int | None, local: int, days: int, decides: str
) -> None:
    """Local settings hold in one directory, but a session there sweeps all: they shorten, and never lengthen."""
    if own is not None:
        settings(json.dumps({"cleanupPeriodDays": own}))
    home.write(home.root / "settings.local.json", json.dumps({"cleanupPeriodDays": local}))
    run("index")

    found = told(run)["roots"][0]

    assert (days, decides) == (found["days"], Path(found["settings"]).name)


def test_a_number_without_end_is_kept_for_ever(settings: Write, run: Run) -> None:
    """A number of days that no calendar holds is written as no date."""
    settings('{"cleanupPeriodDays": 1' + "0" * 400 + "}")
    run("index")

    found = told(run)

    assert (True, None) == (found["is_calm"], found["first_due"])


def test_what_is_not_indexed_and_goes_soon_is_to_be_indexed(settings: Write, run: Run, home: Home) -> None:
    """A transcript that is due within a week and not indexed is something to do; indexing it is enough."""
    run("index")
    late = home.session("33333333-3333-4333-8333-333333333333")
    late.prompt("what nobody has read yet")
    aged(late.path, 25)

    before, said, after = told(run), run("doctor"), (run("index"), run("doctor"))[1]

    assert {"transcripts": 1, "bytes": late.path.stat().st_size} == before["unread"]
    assert said.out.startswith("1 thing to do, 1 thing to know.\n")
    assert "act: transcripts not indexed before they are deleted" in said.out
    assert after.out.startswith("1 thing to know, nothing to do.\n")


def test_what_is_not_indexed_and_stays_is_only_counted(settings: Write, run: Run, home: Home) -> None:
    """A session of today that goes on is no alarm."""
    run("index")
    home.session("33333333-3333-4333-8333-333333333333").prompt("just now")
    aged(home.project() / "33333333-3333-4333-8333-333333333333.jsonl", 0)

    assert 1 == told(run)["unread"]["transcripts"]
    assert run("doctor").out.startswith("1 thing to know, nothing to do.\n")


def test_sessions_that_only_the_index_has_are_counted(settings: Write, run: Run, home: Home) -> None:
    """What was swept is kept here, and it is said of how many sessions."""
    run("index")
    (home.project() / f"{OLD}.jsonl").unlink()
    run("index")

    found = told(run)

    assert (1, 1) == (found["kept"], found["roots"][0]["transcripts"])
    assert "1 session no longer has a transcript, and only the index keeps what was said." in found["sentences"]


def test_agents_below_a_session_are_not_swept(settings: Write, run: Run, home: Home) -> None:
    """Only what lies directly in a project's directory is deleted with age, agents of the old layout among it."""
    for below, days in (("{session}/subagents", 300), ("", 25)):
        agent = home.agent(OLD, f"a{days}", below=below)
        agent.prompt("look")
        aged(agent.path, days)
    run("index")

    found = told(run)

    assert (3, "2026-06-06T12:00:00.000Z") == (found["roots"][0]["transcripts"], found["first_due"])


def test_every_root_has_settings_of_its_own(settings: Write, run: Run, home: Home, tmp_path: Path) -> None:
    """Of two roots the one with few days is told of, by its name."""
    settings('{"cleanupPeriodDays": 99999}')
    other = Home(tmp_path / "other")
    other.session("44444444-4444-4444-8444-444444444444").prompt("elsewhere")
    aged(other.project() / "44444444-4444-4444-8444-444444444444.jsonl", 10)
    roots = ("--root", str(home.root), "--root", str(other.root))
    run("index", *roots)

    found = run("status", "--json", *roots).json["retention"]

    assert [99_999, 30] == [one["days"] for one in found["roots"]]
    assert found["first_due"] == found["roots"][1]["first_due"] == "2026-06-21T12:00:00.000Z"
    (advice,) = (line for line in found["sentences"] if "searchkit keep" in line)
    assert str(other.root / "settings.json") in advice
    assert str(home.root / "settings.json") not in advice


def test_roots_that_are_gone_say_nothing(settings: Write, run: Run, home: Home) -> None:
    """Where transcripts cannot be looked at, nothing is said of what is deleted, and doctor says so."""
    run("index")
    shutil.rmtree(home.root)

    doctor = run("doctor")

    assert run("status", "--json").json["retention"] is None
    assert (0, True) == (doctor.status, "worth knowing: transcripts out of reach" in doctor.out)


def test_python_has_the_same(settings: Write, home: Home, tmp_path: Path) -> None:
    """The engine gives values where commands print words."""
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()

        found = engine.retention()

    assert (2, 0, False) == (found.exposures[0].transcripts, found.kept, found.is_calm)
    assert NOW * 1000 + 10 * DAY * 1000 == found.first_due
