"""`searchkit show`: a message inside its conversation, or the outline of a session."""

import stat
import time
from pathlib import Path

import pytest

from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
FORMS = ((), ("--json",), ("--markdown",), ("--html",))
# What programs rely on.
STRETCH = (
    "session title project branch agent_app is_gone resume agent above thread earlier later branches fixes also_in"
    " abandoned left_at"
)
OUTLINE = (
    "session title project branch agent_app started ended is_gone resume prompts records responses calls failed tokens"
    " cost estimated unpriced api_ms output_per_second turns_ms models files facts ways"
)


@pytest.fixture
def uuid(home: Home, run: Run) -> str:
    """An indexed conversation of three turns, and the uuid of the prompt in the middle."""
    transcript = home.session(SESSION)
    transcript.prompt("why is the list slow")
    transcript.text("let me look")
    middle = transcript.prompt("and the giraffe?")
    transcript.text("\n".join(f"line {number}" for number in range(100)))
    transcript.prompt("thank you\x1b[31m")
    run("index")
    return str(middle["uuid"])


def test_message_is_shown_with_what_is_around_it(run: Run, uuid: str) -> None:
    """So many turns before and after, the message itself marked, long texts cut in the middle and said so."""
    answer = run("show", uuid, "--before", "0", "--after", "1")

    assert 0 == answer.status
    assert "  1 earlier turn: --before 1\n" in answer.out
    assert "let me look" not in answer.out
    assert "> you" in answer.out
    assert "... 88 lines more (--full) ..." in answer.out
    assert "thank you" in answer.out
    assert "\x1b" not in answer.out


def test_message_is_meant_by_its_id_a_beginning_or_a_number(run: Run, uuid: str) -> None:
    """The id of a part will do, and the number of a result of the last search."""
    run("search", "giraffe")

    shown = [run("show", name, "--json").json["thread"] for name in (uuid, f"{uuid}#0", uuid[:13], "1")]

    assert [uuid] * 4 == [next(turn["uuid"] for turn in thread if turn["hit"]) for thread in shown]


def test_full_shows_long_texts_whole(run: Run, uuid: str) -> None:
    """Nothing is cut with --full."""
    assert "line 50" in run("show", uuid, "--full").out


def test_unknown_or_ambiguous_id_is_told(run: Run, uuid: str) -> None:
    """Status 2, what was meant to be found, and those that could be."""
    unknown, empty = run("show", "zzz"), run("show", "")
    several = run("show", "1111", "--json")

    assert (2, "") == (unknown.status, unknown.out)
    assert "nothing has an id that begins with 'zzz', and no session such a title" in unknown.err
    assert 2 == empty.status
    assert SESSION == several.json["session"]


def test_message_that_several_are_meant_by_lists_them(home: Home, run: Run) -> None:
    """The beginning of several ids is an error that names them."""
    transcript = home.session(SESSION)
    ids = [f"abcd000{number}-1111-4111-8111-111111111111" for number in range(2)]
    for id in ids:
        transcript.prompt("hello", uuid=id)
    run("index")

    answer = run("show", "abcd")

    assert (2, "") == (answer.status, answer.out)
    assert all(id in answer.err for id in ids)


def test_date_is_told_once_a_day(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn has the time of day, in the user's zone; another day begins with a line of its own."""
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    transcript = home.session(SESSION)
    for hour in ("2026-03-01T15:00", "2026-03-02T02:30", "2026-03-02T15:45"):
        last = transcript.prompt(f"it is {hour}", timestamp=f"{hour}:00Z")
    run("index")

    try:
        shown = run("show", str(last["uuid"]), "--before", "9").out.splitlines()
    finally:
        monkeypatch.undo()
        time.tzset()

    told = [line for line in shown if "you  " in line or "later" in line]
    expected = ["  you  2026-03-01 10:00, ", "  -- 11 h later --", "  you  21:30  "]
    expected += ["  -- 2026-03-02, 13 h later --", "> you  10:45  "]
    assert expected == [line[: len(begin)] for line, begin in zip(told, expected, strict=True)]


def test_few_lines_are_not_left_out(home: Home, run: Run) -> None:
    """A text that is hardly too long is shown whole."""
    transcript = home.session(SESSION)
    transcript.prompt("count")
    transcript.text("\n".join(f"short {number}" for number in range(15)))
    last = transcript.prompt("further")
    transcript.text("\n".join(f"long {number}" for number in range(16)))
    run("index")

    shown = run("show", str(last["uuid"])).out

    assert (15, 12) == (shown.count("short "), shown.count("long "))
    assert "... 4 lines more (--full) ..." in shown


def test_message_that_says_nothing(home: Home, run: Run) -> None:
    """A record without any text is told as such beside what was said around it."""
    transcript = home.session(SESSION)
    transcript.prompt("why is the list slow")
    silent = transcript.thinking("")
    run("index")

    answer = run("show", str(silent["uuid"]))

    assert (0, True) == (answer.status, "why is the list slow" in answer.out)
    assert "That message says nothing: there is no text in it.\n" == answer.err


@pytest.mark.parametrize("asked", [SESSION, SESSION[:5], "ZEBRA cross", "1"])
def test_session_or_title_is_shown_as_an_outline(home: Home, run: Run, uuid: str, asked: str) -> None:
    """The id of a session, its beginning, words of its title or the number of a title mean the whole of it."""
    home.session(SESSION).line({"type": "custom-title", "customTitle": "zebra crossing", "sessionId": SESSION})
    run("index")
    run("search", "zebra", "--group", "none")

    shown = run("show", asked, "--json").json

    (way,) = shown["ways"]
    assert set(OUTLINE.split()) == set(shown)
    assert ["why is the list slow", "and the giraffe?"] == [turn["asked"]["text"] for turn in way["turns"][:2]]


def test_options_of_messages_are_told_to_be_unused_for_a_session(run: Run, uuid: str) -> None:
    """An outline has no turns before or after it, which is said where somebody asked for them."""
    plain = run("show", SESSION)
    asked = run("show", SESSION, "--before", "3", "--agents")

    assert ("", plain.out) == (plain.err, asked.out)
    assert "--before and --agents are for messages" in asked.err


def test_conversation_for_programs(run: Run, uuid: str) -> None:
    """The promised fields, what was asked for among them whole."""
    shown = run("show", uuid, "--json").json

    assert set(STRETCH.split()) == set(shown)
    assert (SESSION, 0, 0, False) == (shown["session"], shown["earlier"], shown["later"], shown["abandoned"])
    assert [False, False, True, False, False] == [entry["hit"] for entry in shown["thread"]]


@pytest.mark.parametrize("form", FORMS)
def test_output_goes_into_a_private_file(run: Run, uuid: str, tmp_path: Path, form: tuple[str, ...]) -> None:
    """What would have been printed is in the file instead, which only its owner can read."""
    path = tmp_path / "shown"
    path.write_text("old")
    printed = run("show", uuid, *form)

    saved = run("show", uuid, *form, "--output", str(path))

    assert (0, "", "") == saved
    assert printed.out == path.read_text(encoding="utf-8")
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    assert [] == list(tmp_path.glob(".shown*"))


def test_output_that_cannot_be_written_is_told(run: Run, uuid: str, tmp_path: Path) -> None:
    """Status 2, and where it could not be written."""
    answer = run("show", uuid, "-o", str(tmp_path / "nowhere" / "page.html"))

    assert (2, "") == (answer.status, answer.out)
    assert "cannot write" in answer.err


def test_one_form_at_a_time(run: Run, uuid: str) -> None:
    """Two forms at once make no sense."""
    answer = run("show", uuid, "--html", "--markdown")

    assert (2, "") == (answer.status, answer.out)
    assert "--markdown and --html cannot both be printed" in answer.err


@pytest.mark.parametrize(("parent", "words"), [("nowhere", "is missing"), ("own", "in a circle")])
def test_way_that_is_broken_says_so(home: Home, run: Run, parent: str, words: str) -> None:
    """A parent that is nowhere, or a record that is its own parent, ends what is told with a word about it."""
    id = "abcd0000-1111-4111-8111-111111111111"
    above = id if parent == "own" else "00000000-0000-4000-8000-000000000000"
    home.session(SESSION).prompt("hello", uuid=id, parent=above)
    run("index")

    shown = [run("show", id).out, run("show", SESSION).out, run("tree", SESSION).out]

    assert [True] * 3 == [f"what came before {'leads' if parent == 'own' else 'is'}" in text for text in shown]
    assert all(words in " ".join(text.split()) for text in shown)


def test_commands_name_the_index_and_take_ids_as_they_are(home: Home, run: Run, tmp_path: Path) -> None:
    """What is suggested can be pasted into a shell: the index that was named, and no id that a shell would read."""
    transcript = home.session(SESSION)
    first = transcript.prompt("first")
    transcript.text("an answer", uuid="$(evil) id")
    transcript.prompt("second", parent=first["uuid"])
    transcript.text("another answer")
    place = str(tmp_path / "my index")
    run("index", "--index", place)

    shown = run("show", str(first["uuid"]), "--index", place).out

    assert f"searchkit show --index '{place}' '$(evil) id'" in " ".join(shown.split())
