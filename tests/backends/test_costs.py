"""What sessions cost: the running totals of the client, and else an estimate by list prices."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from searchkit import Engine
from searchkit.backends import prices
from searchkit.backends.base import Backend
from searchkit.backends.prices import LIST, configured, price_of
from searchkit.errors import UsageError
from searchkit.query.types import Condition
from searchkit.types import Cost, Grouping
from tests.support.running import Run
from tests.support.transcript import Home, Transcript

FIRST = "11111111-1111-4111-8111-111111111111"
FORK = "22222222-2222-4222-8222-222222222222"
OTHER = "33333333-3333-4333-8333-333333333333"
# Of the client, in milliseconds.
STARTED = 1_772_359_200_000
DAY = 86_400_000
# A response of the tests: 10 tokens of input, 1,000 from the cache, 20 of output.
OPUS_4_6 = (10 * 5 + 1_000 * 0.5 + 20 * 25) / 1e6

Index = Callable[[], Backend]


def state(transcript: Transcript, usd: Any, started: Any = STARTED, **fields: Any) -> None:
    """Append what the client counted; time and tokens grow with the dollars unless something else is said."""
    is_number = isinstance(usd, (int, float)) and 0 <= usd < 1e6
    counted = int(usd * 1_000) if is_number else 0
    usual = {
        "totalAPIDuration": counted,
        "totalDuration": 10 * counted,
        "modelUsage": {"claude-opus-4-6": {"outputTokens": 2 * counted, "costUSD": usd}},
        "hasUnknownModelCost": False,
    }
    start = {} if started is None else {"startTime": started}
    record = {"type": "cost-state", "sessionId": transcript.session, "totalCostUSD": usd, **usual, **start, **fields}
    transcript.raw(orjson.dumps(record) + b"\n")


def turn(transcript: Transcript, text: str = "go on") -> None:
    """Append a prompt and its answer."""
    transcript.prompt(text)
    transcript.text(f"{text}: done")


def fork(home: Home, original: Transcript, session: str, **marks: Any) -> Transcript:
    """Copy the messages of a session into another, as the client does: the same uuids under another session."""
    copied = home.session(session)
    for line in original.path.read_bytes().splitlines():
        record = orjson.loads(line)
        if "uuid" in record:
            copied.line({**record, "sessionId": session, **marks})
            copied.last = record["uuid"]
    return copied


def usd(backend: Backend, *sessions: str) -> list[float | None]:
    """Return what sessions cost, in cents of cents, as sums of fractions are never quite what they should be."""
    found = backend.catalog.costs(sessions)
    return [round(found[one].usd, 6) if one in found else None for one in sessions]


def test_last_total_is_what_a_session_cost(home: Home, indexed: Index) -> None:
    """Totals of a client that is opened again go on; the last is the cost, whatever the tokens say."""
    transcript = home.session(FIRST)
    for total in (0.2, 0.2, 0.5):
        turn(transcript)
        state(transcript, total)

    backend = indexed()

    assert {FIRST: Cost(usd=0.5, api_ms=500, output_per_second=2_000.0)} == backend.catalog.costs([FIRST])
    (figures,) = backend.catalog.figures(Condition(), [Grouping.TOTAL])[Grouping.TOTAL].values()
    assert (0.5, 0.0, 500, 1_000) == (figures.cost, figures.estimated, figures.api_ms, figures.api_output)


@pytest.mark.parametrize("starts", [(STARTED, STARTED + 5, STARTED + 9), (None, None, None)])
def test_totals_that_begin_again_add_up(home: Home, indexed: Index, starts: tuple[int | None, ...]) -> None:
    """A client that begins at nothing is another run: told by its start, or, without one, by a total that fell."""
    transcript = home.session(FIRST)
    for total, started in zip((0.5, 0.2, 0.1), starts, strict=True):
        turn(transcript)
        state(transcript, total, started)

    assert [0.8] == usd(indexed(), FIRST)


def test_fork_does_not_count_what_it_inherited(home: Home, indexed: Index) -> None:
    """A fork goes on with the totals of its original; what these were when it began is not counted again.

    The original goes on, too, and comes to the same total by itself, and another fork of it has more than the first.
    """
    original = home.session(FIRST)
    turn(original)
    state(original, 0.3)
    turn(original)
    state(original, 0.5)
    forked, other = fork(home, original, FORK), fork(home, original, OTHER)
    turn(forked, "another way")
    state(forked, 0.6)
    turn(forked, "and on")
    state(forked, 0.7)
    turn(other, "a third way")
    state(other, 0.9)
    turn(original, "this way")
    state(original, 0.6, totalAPIDuration=650)

    backend = indexed()

    assert [0.6, 0.2, 0.4] == usd(backend, FIRST, FORK, OTHER)
    assert [0.0, 0.5, 0.5] == [backend.catalog.costs([one])[one].inherited for one in (FIRST, FORK, OTHER)]
    (figures,) = backend.catalog.figures(Condition(), [Grouping.TOTAL])[Grouping.TOTAL].values()
    assert 1.2 == pytest.approx(figures.cost)


def test_fork_of_a_fork_inherits_from_the_fork(home: Home, indexed: Index) -> None:
    """Of the totals that it could have begun with, it is the last whose message it holds."""
    original = home.session(FIRST)
    turn(original)
    state(original, 0.3)
    forked = fork(home, original, FORK)
    turn(forked, "another way")
    state(forked, 0.4)
    other = fork(home, forked, OTHER)
    turn(other, "a third way")
    state(other, 0.9)

    assert [0.3, 0.1, 0.5] == usd(indexed(), FIRST, FORK, OTHER)


def test_total_that_came_without_a_message_is_not_inherited(home: Home, indexed: Index) -> None:
    """A compaction costs something and may leave no message; a fork that waited less cannot have begun with it."""
    original = home.session(FIRST)
    turn(original)
    state(original, 0.3)
    forked = fork(home, original, FORK)
    turn(forked, "another way")
    state(forked, 0.6)
    state(original, 0.4, totalAPIDuration=650)

    assert [0.4, 0.3] == usd(indexed(), FIRST, FORK)


@pytest.mark.parametrize("duration", [3_000, 4_000])
def test_fork_that_said_nothing_cost_nothing(home: Home, indexed: Index, duration: int) -> None:
    """Of two sessions with the same total one has it."""
    original = home.session(FIRST)
    turn(original)
    state(original, 0.3)
    state(fork(home, original, FORK), 0.3, totalDuration=duration)

    assert [0.3, 0.0] == usd(indexed(), FIRST, FORK)


def test_branch_begins_at_nothing(home: Home, indexed: Index) -> None:
    """A branch inside a client has a start of its own and inherits nothing, however large its total is."""
    original = home.session(FIRST)
    turn(original)
    state(original, 0.1)
    branch = fork(home, original, FORK, forkedFrom={"sessionId": FIRST, "messageUuid": original.last})
    turn(branch, "another way")
    state(branch, 0.4, STARTED + 77)

    assert [0.1, 0.4] == usd(indexed(), FIRST, FORK)


def test_order_of_reading_does_not_matter(home: Home, tmp_path: Path) -> None:
    """Read line by line, file by file in any order, or at once: the same sessions cost the same."""
    original = home.session(FIRST)
    turn(original)
    state(original, 0.3)
    forked = fork(home, original, FORK)
    turn(forked, "another way")
    state(forked, 0.4)
    turn(original, "this way")
    state(original, 0.8, STARTED + 5)
    files = {path: path.read_bytes().splitlines(keepends=True) for path in (original.path, forked.path)}
    found = []

    for number, order in enumerate(itertools.permutations(files)):
        for path in files:
            path.unlink()
        with Engine(tmp_path / f"index {number}", [home.root]) as engine:
            for path in order:
                for line in files[path]:
                    with path.open("ab") as file:
                        file.write(line)
                    engine.index()
            found.append({one: (round(cost.usd, 6), cost.api_ms) for one, cost in engine.costs([FIRST, FORK]).items()})

    assert [{FIRST: (1.1, 1_100), FORK: (0.1, 100)}] * 2 == found


HOSTILE: list[Any] = [-1, 1e300, 1e6, True, "0.5", None, [], {}, 10**400]


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: str(value)[:20])
def test_amount_that_is_none_is_no_cost(home: Home, indexed: Index, value: Any) -> None:
    """What cannot be dollars is passed over, and hides neither the totals around it nor those of other sessions."""
    transcript = home.session(FIRST)
    turn(transcript)
    state(transcript, 0.2)
    written = str(value) if isinstance(value, int) and not isinstance(value, bool) else orjson.dumps(value).decode()
    transcript.raw(b'{"type":"cost-state","sessionId":"%s","totalCostUSD":%s}\n' % (FIRST.encode(), written.encode()))
    state(transcript, 0.3)

    assert [0.3] == usd(indexed(), FIRST)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999"])
def test_number_that_is_none_is_no_cost(home: Home, indexed: Index, number: bytes) -> None:
    """JSON has no such numbers, and some write them all the same."""
    transcript = home.session(FIRST)
    turn(transcript)
    transcript.raw(b'{"type":"cost-state","sessionId":"%s","totalCostUSD":%s}\n' % (FIRST.encode(), number))

    assert [round(OPUS_4_6, 6)] == usd(indexed(), FIRST)


@pytest.mark.parametrize(
    "fields",
    [
        {"modelUsage": "none"},
        {"modelUsage": {"m": 5, "n" * 5_000: {"costUSD": 1}, "o": {"costUSD": -4, "outputTokens": -4}}},
        {"modelUsage": {f"m{number}": {"costUSD": 0.001} for number in range(5_000)}},
        {"modelUsage": {"claude-opus-4-6": {"costUSD": 900_000}}},
        {"totalAPIDuration": -5, "totalDuration": 1e300, "startTime": "today"},
        {"totalAPIDuration": 10**30, "startTime": -1},
    ],
    ids=str,
)
def test_total_holds_whatever_stands_beside_it(home: Home, indexed: Index, fields: dict[str, Any]) -> None:
    """Models and times that make no sense change nothing of the cost, in no grouping."""
    transcript = home.session(FIRST)
    turn(transcript)
    state(transcript, 0.25)
    *lines, last = transcript.path.read_bytes().splitlines(keepends=True)
    transcript.path.write_bytes(b"".join(lines))
    transcript.raw(json.dumps({**orjson.loads(last), **fields}).encode() + b"\n")

    backend = indexed()

    assert [0.25] == usd(backend, FIRST)
    for by in (Grouping.TOTAL, Grouping.DAY, Grouping.PROJECT):
        assert [0.25] == [round(one.cost or 0, 6) for one in backend.catalog.figures(Condition(), [by])[by].values()]
    by_model = backend.catalog.figures(Condition(), [Grouping.MODEL])[Grouping.MODEL]
    assert sum(one.cost or 0 for one in by_model.values()) <= 0.25 + 1e-9


def test_cost_counts_on_the_day_a_run_ended(home: Home, run: Run) -> None:
    """Totals have no time: each counts on the day of the line before it, and only what came since the one before."""
    transcript = home.session(FIRST)
    turn(transcript)
    state(transcript, 0.2)
    transcript.prompt("tomorrow", timestamp="2026-03-02T12:00:00.000Z")
    transcript.text("today", timestamp="2026-03-02T12:00:01.000Z")
    state(transcript, 0.5)
    run("index")

    by_day = run("stats", "--by", "day", "--json").json["groups"]["day"]
    later = run("stats", "--after", "2026-03-02", "--json").json["total"]

    assert [("2026-03-01", 0.2), ("2026-03-02", 0.3)] == [(one["label"], round(one["cost"], 6)) for one in by_day]
    assert 0.3 == pytest.approx(later["cost"])
    assert [1, 1] == [one["sessions"] for one in by_day]


def test_models_cost_what_the_client_says(home: Home, indexed: Index) -> None:
    """By model it is what the client counted for each, the size of the context aside."""
    transcript = home.session(FIRST)
    turn(transcript)
    used = {"claude-opus-4-6[1m]": {"costUSD": 0.2}, "claude-haiku-4-5": {"costUSD": 0.1}, "free": {"costUSD": 0}}
    state(transcript, 0.3, modelUsage=used)

    found = indexed().catalog.figures(Condition(), [Grouping.MODEL])[Grouping.MODEL]

    assert {"claude-opus-4-6": 0.2, "claude-haiku-4-5": 0.1} == {
        label: pytest.approx(one.cost) for label, one in found.items()
    }


def test_client_that_knows_no_price_estimates(home: Home, indexed: Index) -> None:
    """The client says itself that it took another model's price."""
    transcript = home.session(FIRST)
    turn(transcript)
    state(transcript, 0.3, hasUnknownModelCost=True)

    assert indexed().catalog.costs([FIRST])[FIRST].is_estimate


def test_tokens_are_priced_where_nobody_says_a_cost(home: Home, run: Run) -> None:
    """Every sort of token has its price, those of agents count to their session, and all of it is marked."""
    transcript = home.session(FIRST)
    transcript.prompt("look")
    usage = {
        "input_tokens": 100,
        "output_tokens": 400,
        "cache_read_input_tokens": 30_000,
        "cache_creation_input_tokens": 3_000,
        "cache_creation": {"ephemeral_5m_input_tokens": 2_000, "ephemeral_1h_input_tokens": 1_000},
    }
    _answer(transcript, "claude-opus-5-5", usage)
    _answer(home.agent(FIRST, "a1"), "claude-haiku-4-5-20251001", {"input_tokens": 1_000_000, "output_tokens": 0})
    run("index")
    opus = (100 * 4 + 400 * 20 + 30_000 * 0.2 + 2_000 * 5 + 1_000 * 8) / 1e6

    listed = run("sessions", "--json").json["sessions"]
    shown = run("sessions").out
    outline = run("show", FIRST, "--json").json

    assert [{"usd": pytest.approx(opus + 1), "is_estimate": True, "inherited": 0.0}] == [one["cost"] for one in listed]
    assert [(None, None)] == [(one["api_ms"], one["output_per_second"]) for one in listed]
    assert f"~${opus + 1:.2f}" in shown
    assert (pytest.approx(opus + 1), pytest.approx(opus + 1)) == (outline["cost"], outline["estimated"])
    assert f"~${opus + 1:.2f}, estimated by list prices of {prices.DATE}" in run("stats").out


def test_greatest_number_of_a_response_counts(home: Home, indexed: Index) -> None:
    """A response is written block by block, and its first records may say less than its last."""
    transcript = home.session(FIRST)
    transcript.prompt("look")
    for output in (1, 400, 20):
        _answer(transcript, "claude-opus-4-6", {"output_tokens": output})

    assert [round(400 * 25 / 1e6, 6)] == usd(indexed(), FIRST)


def test_long_prompts_have_their_own_price(home: Home, indexed: Index) -> None:
    """Some models charge more for all of a response to a long prompt, whatever of it came from the cache."""
    transcript = home.session(FIRST)
    for read in (100_000, 100_001):
        transcript.prompt("look")
        _answer(transcript, "claude-haiku-5-5", {"cache_read_input_tokens": read, "output_tokens": 1_000})

    expected = (100_000 * 0.01 + 1_000 * 0.5 + 5 * (100_001 * 0.01 + 1_000 * 0.5)) / 1e6

    assert [round(expected, 6)] == usd(indexed(), FIRST)


def test_model_without_a_price_costs_nothing_known(home: Home, run: Run) -> None:
    """There is no estimate then, rather than nothing at all, and how many responses are missing is said."""
    home_made = home.session(FIRST)
    home_made.prompt("look")
    _answer(home_made, "llama-9", {"input_tokens": 5, "output_tokens": 5})
    mixed = home.session(FORK)
    mixed.prompt("look")
    _answer(mixed, "llama-9", {"input_tokens": 5, "output_tokens": 5})
    mixed.prompt("again")
    _answer(mixed, "claude-opus-4-6", {"output_tokens": 1_000_000})
    run("index")

    costs = {one["session"]: one["cost"] for one in run("sessions", "--json").json["sessions"]}
    total = run("stats", "--json").json["total"]

    assert {FIRST: None, FORK: {"usd": 25.0, "is_estimate": True, "inherited": 0.0}} == costs
    assert (25.0, 25.0, 2) == (total["cost"], total["estimated"], total["unpriced"])
    assert "without 2 responses of models without a price" in run("stats").out


def test_record_that_says_its_cost_is_no_estimate(home: Home, indexed: Index) -> None:
    """Old clients wrote the cost beside each response; where some say none, only these are estimated."""
    transcript = home.session(FIRST)
    transcript.prompt("look")
    transcript.text("there", costUSD=0.25)

    assert {FIRST: Cost(usd=0.25)} == indexed().catalog.costs([FIRST])


def test_configuration_overrides_prices(home: Home, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table in the user's file replaces a price or adds one."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    file = tmp_path / "config" / "searchkit" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text('[prices."claude-opus-4-6"]\noutput = 1000\n[prices.llama-9]\ninput = 7\noutput = 0\n')
    for session, model in ((FIRST, "claude-opus-4-6"), (FORK, "llama-9")):
        transcript = home.session(session)
        transcript.prompt("look")
        _answer(transcript, model, {"input_tokens": 1_000_000, "output_tokens": 1_000})
    run("index")

    costs = {one["session"]: one["cost"]["usd"] for one in run("sessions", "--json").json["sessions"]}

    assert {FIRST: pytest.approx(5 + 1), FORK: pytest.approx(7)} == costs
    file.write_text("[prices.llama-9]\ninput = -7\noutput = 0\n")
    assert (2, True) == ((wrong := run("stats")).status, "prices.llama-9.input" in wrong.err)
    assert 0 == run("search", "look").status


@pytest.mark.parametrize(
    "table",
    [
        5,
        {"m": 5},
        {"m": {}},
        {"m": {"input": 1}},
        {"m": {"input": 1, "output": float("nan")}},
        {"m": {"input": True, "output": 1}},
        {"m": {"input": "1", "output": 1}},
        {"m": {"input": 1e9, "output": 1}},
        {"claude-opus-5-5": {"long_factor": 3}},
    ],
)
def test_price_that_is_none_is_refused(table: object) -> None:
    """A slip in the file is told, not taken for nothing."""
    with pytest.raises(UsageError, match="no price"):
        configured(table)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("claude-opus-4-9", None),
        ("claude-opus-6", None),
        ("<synthetic>", None),
        ("a." * 10_000 + "claude-opus-5-5", None),
        (None, None),
    ],
)
def test_model_is_known_by_its_name_alone(model: str | None, name: str | None) -> None:
    """Dates and clouds are no part of a name; a version that is not listed has no price, not that of another."""
    assert (LIST[name] if name else None) == price_of(model, LIST)


def test_turns_say_how_long_they_took(home: Home, run: Run) -> None:
    """What the client measured is shown with its turn and added up; a branch does not measure its original's again."""
    transcript = home.session(FIRST)
    turn(transcript)
    transcript.system("turn_duration", durationMs=4_000)
    turn(transcript, "again")
    transcript.system("turn_duration", durationMs=1_500)
    turn(transcript, "and now")
    transcript.system("turn_duration", durationMs=-5)
    branch = fork(home, transcript, FORK, forkedFrom={"sessionId": FIRST, "messageUuid": transcript.last})
    turn(branch, "another way")
    run("index")

    found, branched = run("show", FIRST, "--json").json, run("show", FORK, "--json").json

    assert [4_000, 1_500, None] == [one["duration_ms"] for way in found["ways"] for one in way["turns"]]
    assert (5_500, None) == (found["turns_ms"], branched["turns_ms"])
    assert "turns took 5.5 s" in run("show", FIRST).out
    assert {"cost-state", "turn-duration"}.isdisjoint(found["facts"])


def _answer(transcript: Transcript, model: str, usage: dict[str, Any]) -> None:
    """Append a record of the current response, with another model and usage than usual."""
    transcript.model = model
    record = transcript.text("there")
    lines = transcript.path.read_bytes().splitlines(keepends=True)
    record["message"] = {**record["message"], "usage": usage}
    transcript.path.write_bytes(b"".join(lines[:-1]))
    transcript.line(record)
