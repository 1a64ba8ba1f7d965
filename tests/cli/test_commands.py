"""The commands, as a person or a program calls them."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from searchkit import Engine, config
from searchkit.backends.local import layout
from searchkit.backends.local.open import writing
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
# How often a test looks again for what another process should have done by now.
LOOKS = 100
LOOK_SECONDS = 0.1


def test_index_says_what_it_read(home: Home, run: Run) -> None:
    """A first run counts files and records; a second one finds everything up to date."""
    home.session(SESSION).prompt("find the slow query")

    first, second = run("index"), run("index")

    assert (0, True) == (first.status, first.out.startswith("Read 1 file,"))
    assert (0, "Everything is up to date.\n") == (second.status, second.out)


def test_search_finds_and_says_where(home: Home, run: Run) -> None:
    """A result carries what a program needs to go on: uuid, session, project, kind, passage."""
    prompt = home.session(SESSION).prompt("find the slow query")
    run("index")

    found = run("search", "slow", "query", "--json")

    (result,) = found.json["results"]
    assert (0, prompt["uuid"], SESSION) == (found.status, result["uuid"], result["session"])
    assert ("prompt", "user", "/home/mira/src/shop") == (result["kind"], result["role"], result["project"])
    start, end = result["highlights"][0]
    assert "slow" == result["snippet"][start:end]


def test_nothing_found_is_status_1(home: Home, run: Run) -> None:
    """A search without a result says so to people and to programs, with status 1."""
    home.session(SESSION).prompt("find the slow query")
    run("index")

    plain, as_json = run("search", "xylophone"), run("search", "xylophone", "--json")

    assert (1, "", True) == (plain.status, plain.out, "xylophone" in plain.err)
    assert (1, [], "no_match") == (as_json.status, as_json.json["results"], as_json.json["empty_because"])


@pytest.mark.parametrize("text", ["error: expected ) near", '"unbalanced', "🙂", "a" * 5_000, "AND OR NOT", "-", "+"])
def test_any_text_can_be_searched(home: Home, run: Run, text: str) -> None:
    """What a person types is never a syntax error."""
    home.session(SESSION).prompt("find the slow query")
    run("index")

    assert run("search", "--", text).status in (0, 1)


def test_transcript_cannot_command_the_terminal(home: Home, run: Run) -> None:
    """Control and bidirectional characters of a transcript do not reach the terminal."""
    transcript = home.session(SESSION)
    transcript.prompt("slow \x1b]0;owned\x07 query \u202e reversed \x9b31m \x08")
    transcript.line({"type": "custom-title", "customTitle": "a \x1b[31m red \u2066 title", "sessionId": SESSION})
    run("index")

    shown = run("search", "slow").out + run("sessions").out

    assert not set(shown) & set("\x1b\x07\x08\x9b\u202e\u2066")


def test_json_cannot_command_the_terminal(home: Home, run: Run, tmp_path: Path) -> None:
    """In JSON such characters are escaped, and whoever parses it gets them as they were."""
    text = "slow \x7f query \x9b31m reversed \u202e \u2028 and \ufeff 🙂"
    home.session(SESSION).line({"type": "custom-title", "customTitle": text, "sessionId": SESSION})
    home.session(SESSION).prompt("find the slow query")
    home.write(tmp_path / "questions.jsonl", '{"query": "find slow"}')
    run("index")

    printed = run("search", "find", "slow", "--json"), run("search", "--queries", str(tmp_path / "questions.jsonl"))

    for answer in printed:
        assert not set(answer.out) & set("\x7f\x9b\u202e\u2028\ufeff")
        assert "🙂" in answer.out
        assert text == answer.json["results"][0]["title"]


def test_json_says_of_every_turn_whether_it_is_the_hit(home: Home, run: Run) -> None:
    """In a thread `hit` is true or false, and the time it took is a whole number."""
    transcript = home.session(SESSION)
    transcript.prompt("find the slow query")
    transcript.text("let me look")
    run("index")

    found = run("search", "slow", "--json").json

    assert [True, False] == [turn["hit"] for turn in found["results"][0]["thread"]]
    assert isinstance(found["took_ms"], int)


def test_missing_index_says_what_to_do(run: Run) -> None:
    """Without an index every command that reads one says which command makes it."""
    for command in (["search", "x"], ["status"], ["sessions"], ["doctor"]):
        answer = run(*command, "--json")
        assert (2, "IndexMissing") == (answer.status, answer.json["error"]["kind"])
        assert "searchkit index" in answer.json["error"]["hint"]


def test_root_without_projects_is_an_error(run: Run, tmp_path: Path) -> None:
    """A directory that holds no projects/ is not a root, and nothing is made of it."""
    answer = run("index", "--root", str(tmp_path))

    assert (2, True) == (answer.status, "holds no projects/" in answer.err)
    assert not (tmp_path / "index").exists()


def test_empty_root_is_an_error(home: Home, run: Run) -> None:
    """A root without any transcript is not passed over in silence."""
    home.project()

    answer = run("index")

    assert (2, True) == (answer.status, "no transcripts" in answer.err)


@pytest.mark.parametrize("made", [(), (".claude",), (".claude", "projects")])
def test_who_has_no_transcripts_is_told_of_the_demo(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: tuple[str, ...]
) -> None:
    """Where Claude Code was never used, the error names --root, and the command that shows sample transcripts."""
    tmp_path.joinpath("user", *made).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.delenv("SEARCHKIT_ROOTS")

    answer = run("index")

    assert (2, True, True) == (answer.status, "--root" in answer.err, "searchkit demo" in answer.err)


def test_file_that_is_not_json_lines_is_named(home: Home, run: Run) -> None:
    """A file none of whose lines is a record is named, with status 2, and all else is indexed."""
    home.session(SESSION).prompt("find the slow query")
    home.write(home.project() / "notes.jsonl", "hello\nworld\n")

    answer = run("index")

    assert (2, True) == (answer.status, "notes.jsonl: not JSON lines" in answer.err)
    assert 0 == run("search", "slow").status
    assert "not JSON lines: 1" in run("doctor").out


def test_index_of_another_format_is_refused(home: Home, run: Run, tmp_path: Path) -> None:
    """An index of another format is neither read nor wiped; a rebuild moves it aside."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    (tmp_path / "index" / "manifest.json").write_text('{"format": 99}')

    refused = [run("search", "slow"), run("index")]
    rebuilt = run("index", "--rebuild")

    assert [2, 2] == [answer.status for answer in refused]
    assert all("--rebuild" in answer.err for answer in refused)
    assert (0, 0) == (rebuilt.status, run("search", "slow").status)
    assert list((tmp_path / "index" / "aside").glob("*/catalog.db"))


def test_damaged_catalog_is_told_as_such(home: Home, run: Run, tmp_path: Path) -> None:
    """A catalog that SQLite cannot read is named, with the command that mends it."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    (tmp_path / "index" / "catalog.db").write_bytes(b"this is no database" * 1_000)

    answer = run("search", "slow", "--json")

    assert (2, "IndexDamaged") == (answer.status, answer.json["error"]["kind"])
    assert 0 == run("index", "--rebuild").status
    assert 0 == run("search", "slow").status


def test_rebuild_keeps_what_is_no_longer_on_disk(home: Home, run: Run) -> None:
    """A transcript that was deleted stays in the index, also when it is built again."""
    home.session(SESSION).prompt("find the slow query")
    home.session(OTHER).prompt("something else")
    run("index")
    (home.project() / f"{SESSION}.jsonl").unlink()

    gone, again, rebuilt = run("index"), run("index"), run("index", "--rebuild")

    assert "1 file no longer there" in gone.out
    assert "Everything is up to date.\n" == again.out
    assert (0, 0) == (rebuilt.status, run("search", "slow").status)


def test_directory_of_something_else_is_left_alone(home: Home, run: Run, tmp_path: Path) -> None:
    """An index is not put among other files."""
    home.session(SESSION).prompt("find the slow query")
    home.write(tmp_path / "photos" / "cat.jpg", "meow")

    answer = run("index", "--index", str(tmp_path / "photos"))

    assert (2, ["cat.jpg"]) == (answer.status, [path.name for path in (tmp_path / "photos").iterdir()])


def test_only_the_owner_can_read_the_index(home: Home, run: Run, tmp_path: Path) -> None:
    """Every directory of an index has mode 0700 and every file 0600, whatever the umask."""
    home.session(SESSION).prompt("find the slow query")
    before = os.umask(0o000)
    try:
        run("index")
        run("search", "slow")
    finally:
        os.umask(before)

    index = tmp_path / "index"
    modes = {stat.S_IMODE(path.stat().st_mode) for path in index.rglob("*") if path.is_file()}
    directories = {stat.S_IMODE(path.stat().st_mode) for path in (index, *index.rglob("*")) if path.is_dir()}
    assert ({0o600}, {0o700}) == (modes, directories)


def test_second_writer_says_who_holds_the_index(home: Home, run: Run, tmp_path: Path) -> None:
    """One process writes at a time; another can be told to leave at once."""
    home.session(SESSION).prompt("find the slow query")
    run("index")

    with writing(tmp_path / "index" / "lock", wait=False):
        answer = run("index", "--no-wait")
        read = run("search", "slow")

    assert (2, True) == (answer.status, f"process {os.getpid()} on" in answer.err)
    assert 0 == read.status


def test_prune_says_first_and_forgets_only_when_told(home: Home, run: Run) -> None:
    """A dry run changes nothing; without a terminal --yes is wanted; then the session is gone for good."""
    home.session(SESSION).prompt("find the slow query")
    home.session(OTHER).prompt("something else")
    run("index")

    dry = run("prune", "--session", SESSION, "--dry-run")
    unasked = run("prune", "--session", SESSION)
    kept = run("search", "slow")
    done = run("prune", "--session", SESSION[:8], "--yes")

    assert (0, True, 2, 0) == (dry.status, SESSION[:8] in dry.out, unasked.status, kept.status)
    assert (0, 1, 0) == (done.status, run("search", "slow").status, run("search", "something").status)
    assert "Everything is up to date.\n" == run("index").out


def test_prune_of_gone_files_and_of_projects(home: Home, run: Run) -> None:
    """Sessions can be chosen by what became of their transcript and by their project."""
    home.session(SESSION).prompt("find the slow query")
    home.session(OTHER, cwd="/home/mira/src/other").prompt("something else")
    run("index")
    (home.project() / f"{SESSION}.jsonl").unlink()
    run("index")

    gone = run("prune", "--gone", "--dry-run", "--json")
    project = run("prune", "--project", "other", "--dry-run", "--json")
    nothing = run("prune", "--project", "nowhere", "--dry-run", "--json")

    assert [SESSION] == [session["session"] for session in gone.json["sessions"]]
    assert [OTHER] == [session["session"] for session in project.json["sessions"]]
    assert (1, {"sessions": [], "is_done": False}) == (nothing.status, nothing.json)
    assert 2 == run("prune").status


def test_prune_by_age_keeps_what_has_no_time(home: Home, run: Run) -> None:
    """A session whose time is unknown is not older than anything."""
    home.session(SESSION).prompt("find the slow query")
    home.session(OTHER).line({"type": "custom-title", "customTitle": "timeless", "sessionId": OTHER})
    run("index")

    old = run("prune", "--older-than", "1", "--dry-run", "--json")

    assert {SESSION, OTHER} == {session["session"] for session in run("sessions", "--json").json["sessions"]}
    assert [SESSION] == [session["session"] for session in old.json["sessions"]]


def test_prune_for_programs_asks_nobody(home: Home, run: Run) -> None:
    """With --json nothing is shown first, so it wants to be told."""
    home.session(SESSION).prompt("find the slow query")
    run("index")

    refused = run("prune", "--session", SESSION, "--json")

    assert (2, True) == (refused.status, "--dry-run" in refused.json["error"]["hint"])
    assert 0 == run("search", "slow").status


def test_demo_outlives_its_format(run: Run) -> None:
    """What an older searchkit left of it is rebuilt, without a question."""
    run("demo")
    manifest = config.resolve().index.with_name("searchkit-demo") / layout.MANIFEST
    manifest.write_text('{"format": 1}')

    again = run("demo")

    assert (0, True) == (again.status, "certificate" in again.out)


def test_sessions_by_filter(home: Home, run: Run) -> None:
    """Sessions can be listed by project, branch, title and by a file they touched."""
    transcript = home.session(SESSION, branch="fix/slow")
    transcript.prompt("find the slow query")
    transcript.call("Edit", {"file_path": "/home/mira/src/shop/auth.py", "old_string": "a", "new_string": "b"})
    home.session(OTHER).prompt("something else")
    run("index")

    chosen = {
        option: [session["session"] for session in run("sessions", option, value, "--json").json["sessions"]]
        for option, value in (("--branch", "slow"), ("--file", "auth.py"), ("--project", "shop"))
    }

    assert {"--branch": [SESSION], "--file": [SESSION]} == {key: chosen[key] for key in ("--branch", "--file")}
    assert {SESSION, OTHER} == set(chosen["--project"])
    assert 1 == run("sessions", "--branch", "nowhere").status


def test_status_tells_how_far_behind(home: Home, run: Run) -> None:
    """What was written since the last run counts as behind, without being read."""
    transcript = home.session(SESSION)
    transcript.prompt("find the slow query")
    run("index")
    before = run("status", "--json").json
    transcript.text("it is the join")

    after = run("status", "--json").json

    assert {"files": 0, "bytes": 0} == before["behind"]
    assert 1 == after["behind"]["files"]
    assert 0 < after["behind"]["bytes"] < transcript.path.stat().st_size
    assert {"prompt": 1} == after["counts"]["parts"]
    assert "run searchkit index" in run("status").out


def test_doctor_names_file_and_line(home: Home, run: Run) -> None:
    """What is wrong in a transcript is told with its place; a sound index is not found fault with."""
    transcript = home.session(SESSION)
    first = transcript.prompt("one")
    transcript.raw(b'b80","timestamp":1}\n')
    transcript.prompt("two", parent="99999999-9999-4999-8999-999999999999")
    transcript.call("Bash", {"command": "ls"})
    transcript.prompt("before one", timestamp="2020-01-01T00:00:00Z")
    transcript.line({**first, "message": {"role": "user", "content": "another text"}})
    transcript.line({"type": "quartz", "uuid": "no-uuid", "parentUuid": "no-uuid"})
    run("index")

    answer = run("doctor", "--json")

    found = {(finding["kind"], finding["line"]) for finding in answer.json["findings"]}
    assert 0 == answer.status
    assert {("torn line", 2), ("missing parent", 3), ("call without result", 4), ("time running backwards", 5)} <= found
    assert {("duplicate uuid", 6), ("unknown type", 7), ("invalid uuid", 7), ("cycle", 7)} <= found


def test_demo_answers_from_the_sample(run: Run, tmp_path: Path) -> None:
    """The tour works without any transcript of one's own, finds what answers first, and touches no other index."""
    labelled = json.loads((Path(__file__).parent.parent / "data" / "sample_questions.json").read_text(encoding="utf-8"))
    right = {question["query"]: question["uuids"] for question in labelled}

    answer = run("demo", "--index", str(tmp_path / "demo"), "--json")

    assert 0 == answer.status
    for search in answer.json["searches"]:
        assert search["results"][0]["uuid"] in right[search["query"]["text"]]
    assert not (tmp_path / "index").exists()


def test_watch_follows_what_is_written(home: Home, run: Run, tmp_path: Path) -> None:
    """A line appended while --watch runs can be found a moment later."""
    transcript = home.session(SESSION)
    transcript.prompt("find the slow query")
    with subprocess.Popen(
        [sys.executable, "-m", "searchkit.cli.main", "index", "--watch"], stderr=subprocess.PIPE
    ) as watcher:
        try:
            assert watcher.stderr is not None
            watcher.stderr.readline()
            transcript.text("a wild xylophone appears")

            _wait(lambda: run("search", "xylophone").status == 0)
        finally:
            watcher.send_signal(signal.SIGINT)

    assert 0 == watcher.returncode


def test_closed_pipe_is_no_error(home: Home, run: Run) -> None:
    """A reader that has seen enough may leave."""
    transcript = home.session(SESSION)
    for number in range(300):
        transcript.prompt(f"find the slow query {number} " + "x" * 200)
    run("index")
    command = [sys.executable, "-m", "searchkit.cli.main", "search", "slow", "--limit", "300"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as searching:
        assert searching.stdout is not None
        searching.stdout.readline()
        searching.stdout.close()
        complaints = searching.stderr.read() if searching.stderr else b""

    assert (0, b"") == (searching.returncode, complaints)


def _wait(is_done: Callable[[], bool]) -> None:
    for _ in range(LOOKS):
        if is_done():
            return
        time.sleep(LOOK_SECONDS)
    pytest.fail("it did not happen")


def test_directory_with_a_foreign_manifest_is_left_alone(home: Home, run: Run, tmp_path: Path) -> None:
    """A manifest.json of something else does not make a directory an index, not even for a rebuild."""
    home.session(SESSION).prompt("find the slow query")
    home.write(tmp_path / "app" / "manifest.json", '{"name": "my web app"}')
    home.write(tmp_path / "app" / "notes.txt", "mine")

    statuses = [run("index", *extra, "--index", str(tmp_path / "app")).status for extra in ([], ["--rebuild"])]

    assert [2, 2] == statuses
    assert ["manifest.json", "notes.txt"] == sorted(path.name for path in (tmp_path / "app").iterdir())


def test_damage_behind_the_first_page_is_mended_by_a_rebuild(home: Home, run: Run, tmp_path: Path) -> None:
    """A catalog that opens but is broken inside is moved aside like one that does not open."""
    transcript = home.session(SESSION)
    for number in range(200):
        transcript.prompt(f"find the slow query {number}")
    run("index")
    catalog = tmp_path / "index" / "catalog.db"
    content = bytearray(catalog.read_bytes())
    content[len(content) // 4 : len(content) // 2] = b"\xff" * (len(content) // 2 - len(content) // 4)
    catalog.write_bytes(content)

    rebuilt = run("index", "--rebuild")

    assert (0, 0) == (rebuilt.status, run("search", "slow").status)
    assert list((tmp_path / "index" / "aside").glob("*/catalog.db"))


def test_rebuild_sees_what_has_gone(home: Home, run: Run) -> None:
    """A transcript that went before a rebuild is marked as gone all the same."""
    home.session(SESSION).prompt("find the slow query")
    home.session(OTHER).prompt("something else")
    run("index")
    (home.project() / f"{SESSION}.jsonl").unlink()
    run("index", "--rebuild")

    gone = run("prune", "--gone", "--dry-run", "--json")

    assert [SESSION] == [session["session"] for session in gone.json["sessions"]]


def test_time_that_no_calendar_holds_breaks_no_list(home: Home, run: Run) -> None:
    """A history line with microseconds for milliseconds does not keep the sessions from being listed."""
    home.session(SESSION).prompt("find the slow query")
    home.history("find the slow query again", SESSION, timestamp=1_767_225_600_000_000)
    run("index")

    listed = run("sessions", "--json")

    assert (0, "2026-03-01T10:00:01.000Z") == (listed.status, listed.json["sessions"][0]["ended"])


def test_bytes_that_are_no_text_can_be_asked_for(home: Home, run: Run) -> None:
    """What a terminal sends that is not UTF-8 is searched for and not found."""
    home.session(SESSION).prompt("find the slow query")
    run("index")

    assert 1 == run("search", os.fsdecode(b"\xff\xfe")).status


def test_many_repeats_do_not_hide_the_original(home: Home, run: Run) -> None:
    """Repeats that match as well as the original do not crowd it out of a short answer."""
    transcript = home.session(SESSION)
    prompt = transcript.prompt("find the slow query")
    for number in range(8):
        stamp = f"2026-03-01T10:00:0{number}Z"
        queued = {"type": "queue-operation", "operation": "enqueue", "content": "find the slow query"}
        transcript.line({**queued, "timestamp": stamp, "sessionId": SESSION})
    run("index")

    found = run("search", "slow", "--limit", "1", "--json")

    assert [prompt["uuid"]] == [result["uuid"] for result in found.json["results"]]


def test_missing_words_are_found_by_doctor_and_made_anew(home: Home, run: Run, tmp_path: Path) -> None:
    """A keyword index that lost its files is told of while somebody writes, and made from the catalog after that."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    for file in (tmp_path / "index" / "keyword").iterdir():
        file.unlink()

    with writing(tmp_path / "index" / layout.LOCK, wait=False):
        doctor, search = run("doctor"), run("search", "slow", "--json")

    assert (2, True) == (doctor.status, "words missing" in doctor.out)
    assert (1, "not_indexed") == (search.status, search.json["empty_because"])
    assert (0, 0) == (run("search", "slow").status, run("doctor").status)


def test_empty_answer_tells_of_files_that_were_not_read(home: Home, run: Run) -> None:
    """What was written since the index was made may be what is sought."""
    home.session(SESSION).prompt("find the slow query")
    run("index")
    home.session("22222222-2222-4222-8222-222222222222").prompt("a numbat")

    assert "1 file is newer than the index" in run("search", "numbat").err


def test_open_reader_sees_the_right_text_after_chunks_were_written_anew(home: Home, run: Run, tmp_path: Path) -> None:
    """An engine that is kept open does not mix up texts when a stand-in goes and its chunk is rewritten."""
    transcript = home.session(SESSION)
    call = transcript.call("Bash", {"command": "make"})
    transcript.progress({"type": "bash_progress", "fullOutput": "a secret stand-in"}, call)
    transcript.text("a giraffe in the savanna")
    with Engine(tmp_path / "index", [home.root]) as engine:
        engine.index()
        before = engine.search("giraffe").results[0].best.stored.part.text
        transcript.result(call, "made")
        engine.index()

        after = engine.search("giraffe").results[0].best.stored.part.text

    assert ("a giraffe in the savanna",) * 2 == (before, after)


def test_days_are_those_of_the_season(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day in summer begins at midnight in summer time, whatever season it is now."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    transcript = home.session(SESSION)
    transcript.prompt("lantern after midnight", timestamp="2026-07-15T22:30:00Z")
    transcript.prompt("lantern before midnight", timestamp="2026-01-15T22:30:00Z")

    try:
        run("index")
        summer, winter = (run("search", "lantern", f"on:2026-{month}-15") for month in ("07", "01"))
    finally:
        monkeypatch.undo()
        time.tzset()

    assert (1, 0) == (summer.status, winter.status)
