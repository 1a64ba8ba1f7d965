"""`searchkit context`: a pack for another agent."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from searchkit import Engine
from searchkit.context import markdown as render
from searchkit.context.types import Pack
from searchkit.render.wire import context as wire
from searchkit.text import tokens
from tests.support.answers import OTHER, SESSION, THIRD
from tests.support.probe import searched
from tests.support.running import Run
from tests.support.transcript import Home

DATA = Path(__file__).parent.parent / "data"
QUESTION = "why does the lantern flicker"
CAUSE = (
    "The lantern flickers because the door and the lantern share one line: opening the door starts a motor, and the "
    "voltage falls for some milliseconds."
)
LOG = "\n".join(f"{number:03} ok" for number in range(400)).replace("200 ok", "200 lantern: voltage too low")
FIELDS = """
number session agent file uuid part kind role tool is_error timestamp project branch title agent_app files question
passage beside steps outcome score is_gone
""".split()


def write(home: Home) -> None:
    """Write a session that finds out why, one that repairs it, and one that only mentions the word."""
    found = home.session(SESSION, branch="fix/lantern")
    found.line({"type": "custom-title", "customTitle": "Flickering `lantern`", "sessionId": SESSION})
    found.prompt("Why does the lantern in the shop flicker?")
    read = found.call("Read", {"file_path": "/home/mira/src/shop/hall.txt"})
    found.result(read, "door.open(motor)")
    logged = found.call("Bash", {"command": "cat hall.log"})
    found.result(logged, LOG)
    found.text(CAUSE)
    repaired = home.session(OTHER)
    repaired.prompt("Give the door a line of its own, so that the lantern stops to flicker.")
    wires = {"file_path": "/home/mira/src/shop/wires.txt", "old_string": "door: line 1", "new_string": "door: line 2"}
    repaired.result(repaired.call("Edit", wires), "The file has been updated.")
    test = repaired.call("Bash", {"command": "./try-door"})
    repaired.result(test, "lantern: steady", is_error=True)
    repaired.text("Done: the door has line 2 now, and the lantern does not flicker any more.")
    mentioned = home.session(THIRD)
    mentioned.prompt("Write a poem about autumn, fog, a river, wet leaves, an old lantern and the sea.")
    mentioned.text("It is written.")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An index of all three."""
    with searched(tmp_path_factory.mktemp("context"), write) as opened:
        yield opened


def sessions(pack: Pack) -> list[str | None]:
    """Return the sessions that are quoted, in order."""
    return [one.shown.stored.link.places[0].session for one in pack.excerpts]


@pytest.mark.parametrize("max_tokens", [450, 1_500])
def test_pack_looks_as_it_should(engine: Engine, max_tokens: int) -> None:
    """Citations, questions, passages, steps and outcomes, as they were read in review."""
    pack = engine.context(QUESTION, max_tokens)

    assert (DATA / f"context-{max_tokens}.md").read_text(encoding="utf-8") == render.markdown(pack)


def test_fields_for_programs(engine: Engine) -> None:
    """The fields are those that were promised, and the tokens those of the Markdown."""
    pack = engine.context(QUESTION, 450)

    told = msgspec.to_builtins(wire.pack(pack))

    excerpts = told.pop("excerpts")
    assert isinstance(excerpts, list)
    assert {
        "query": QUESTION,
        "tokens": tokens.count(render.markdown(pack)),
        "max_tokens": 450,
        "tokenizer": tokens.NAME,
        "is_sure": True,
        "empty_because": None,
        "respelled": {},
    } == told
    assert all(FIELDS == list(one) for one in excerpts)


def test_values_for_programs(engine: Engine) -> None:
    """An excerpt carries what was asked, found and done, what came of it, and where it is."""
    excerpts = msgspec.to_builtins(wire.pack(engine.context("lantern steady kind:result", 2_000)))["excerpts"]

    assert isinstance(excerpts, list)
    told = next(one for one in excerpts if one["session"] == OTHER)
    expected = {
        "kind": "tool_result",
        "tool": "Bash",
        "is_error": True,
        "timestamp": "2026-03-01T10:00:07.000Z",
        "project": "/home/mira/src/shop",
        "branch": "main",
        "files": ["/home/mira/src/shop/wires.txt"],
        "question": "Give the door a line of its own, so that the lantern stops to flicker.",
        "passage": "lantern: steady",
        "outcome": "Done: the door has line 2 now, and the lantern does not flicker any more.",
        "is_gone": False,
    }
    assert expected == {name: told[name] for name in expected}
    assert "command: ./try-door" in [one["text"] for one in told["beside"]]
    assert told["part"].startswith(told["uuid"] + "#")


def test_steps_for_programs_say_something(engine: Engine) -> None:
    """A result that is left of a call that is quoted is no step."""
    excerpts = msgspec.to_builtins(wire.pack(engine.context(QUESTION, 4_000)))["excerpts"]

    assert isinstance(excerpts, list)
    assert all(step for excerpt in excerpts for step in excerpt["steps"])


def test_every_citation_resolves(engine: Engine) -> None:
    """What is cited can be shown, and is in the session that is cited with it."""
    cited = re.findall(
        r"^\[\d+\] session (\S+) · uuid (\S+) · part \d+ · 2026-03-01 · ",
        render.markdown(engine.context("lantern", 2_000)),
        re.MULTILINE,
    )

    shown = [engine.show(uuid).session for _, uuid in cited]

    assert {SESSION, OTHER, THIRD} == {session for session, _ in cited}
    assert [session for session, _ in cited] == [session.id if session else None for session in shown]


def test_same_index_gives_the_same_pack(engine: Engine, tmp_path: Path) -> None:
    """Neither the time nor the order of reading changes a pack."""
    with searched(tmp_path, write) as again:
        packs = [render.markdown(one.context("lantern door", 600)) for one in (engine, engine, again)]

    assert 1 == len(set(packs))


def test_words_in_common_by_chance_are_left_out(engine: Engine) -> None:
    """What scores far below the best is not quoted, however much room there is."""
    assert {SESSION, OTHER} == set(sessions(engine.context(QUESTION, 10_000)))


def test_nothing_found_is_told(home: Home, run: Run) -> None:
    """Nonsense gives no pack, but the reasons that a search gives, and status 1."""
    write(home)
    run("index")

    plain, as_json = (run("context", "qwrtzpl", "--max-tokens", "500", *more) for more in ((), ("--json",)))
    filtered = run("context", "lantern", "project:nowhere", "--max-tokens", "500", "--json")

    assert (1, "") == (plain.status, plain.out)
    assert "Nothing matches 'qwrtzpl'." in plain.err
    assert (1, [], 0, "no_match") == (
        as_json.status,
        *(as_json.json[name] for name in ("excerpts", "tokens", "empty_because")),
    )
    assert (1, "filtered") == (filtered.status, filtered.json["empty_because"])


def test_budget_has_a_default(home: Home, run: Run) -> None:
    """Who names no budget gets 2,000 tokens, and --help says so."""
    write(home)
    run("index")

    assert 2_000 == run("context", "lantern", "--json").json["max_tokens"]
    assert "[default: 2000;" in run("context", "--help").out


def test_too_small_a_budget_is_told(home: Home, run: Run) -> None:
    """Where no passage fits, the error says how many tokens would do, and they do."""
    write(home)
    run("index")

    refused = run("context", "lantern", "--max-tokens", "50", "--json")
    least = re.findall(r"--max-tokens (\d+)", refused.json["error"]["hint"])

    assert (2, "UsageError") == (refused.status, refused.json["error"]["kind"])
    assert 0 == run("context", "lantern", "--max-tokens", least[0]).status
    assert 2 == run("context", "lantern", "--max-tokens", str(int(least[0]) - 1)).status


def test_sessions_are_left_out(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The session that asks is left out by its id, by a beginning, or because the environment names it."""
    write(home)
    run("index")
    ask = ("context", "lantern", "flicker", "--max-tokens", "2000", "--json")
    monkeypatch.setenv("CLAUDE_SESSION_ID", OTHER)

    named = run(*ask, "--exclude-session", OTHER)
    begun = run(*ask, "--exclude-session", OTHER[:6])
    both = run(*ask, "--exclude-session", OTHER, "--exclude-session", SESSION)
    current = run(*ask, "--exclude-current")

    assert OTHER in {one["session"] for one in run(*ask).json["excerpts"]}
    assert [{SESSION}] * 3 == [
        {one["session"] for one in told.json["excerpts"]} - {THIRD} for told in (named, begun, current)
    ]
    assert {THIRD} == {one["session"] for one in both.json["excerpts"]}


def test_session_to_leave_out_that_is_nowhere_is_told(home: Home, run: Run) -> None:
    """A mistyped id leaves nothing out, and whoever typed it is told."""
    write(home)
    run("index")

    told = run("context", "lantern", "--max-tokens", "500", "--exclude-session", "nowhere")

    assert (0, True) == (told.status, "begins with 'nowhere'" in told.err)


def test_unknown_current_session_is_told(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is given the session that asks because the environment did not name it, or named nothing."""
    write(home)
    run("index")
    for name in ("CLAUDE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"):
        monkeypatch.delenv(name, raising=False)

    unknown = run("context", "lantern", "--max-tokens", "500", "--exclude-current")
    empty = run("context", "lantern", "--max-tokens", "500", "--exclude-session", "")

    assert (2, True) == (unknown.status, "the current session is not known" in unknown.err)
    assert (2, True) == (empty.status, "name the session to leave out" in empty.err)


def test_limit_counts_sessions(engine: Engine) -> None:
    """No more sessions are quoted than were asked for."""
    assert 1 == len(set(sessions(engine.context(QUESTION, 5_000, limit=1))))


def test_filters_of_search_apply(engine: Engine) -> None:
    """Filters choose passages, in the words and as options."""
    assert {SESSION} == set(sessions(engine.context("lantern branch:fix", 2_000)))
    assert {SESSION} == set(sessions(engine.context("lantern", 2_000, filters=[("branch", "fix")])))


def test_deleted_transcripts_change_only_a_word(home: Home, run: Run) -> None:
    """The pack is the same once the files are gone, but for the word that they are."""
    write(home)
    run("index")
    before = run("context", QUESTION, "--max-tokens", "450")

    for path in home.root.rglob("*.jsonl"):
        path.unlink()
    run("index")
    after = run("context", QUESTION, "--max-tokens", "450")
    shown = [run("show", uuid).status for uuid in re.findall(r" uuid (\S+)", after.out)]

    assert [0, 0] == shown
    assert before.out != after.out
    assert before.out == after.out.replace(" · transcript gone", "")
    assert tokens.count(after.out) <= 450
