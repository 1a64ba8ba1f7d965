"""`searchkit stats`, and the plots it draws."""

import click
import pytest

from searchkit.render.lines import bar, bars, columns, fitted, sparkline
from searchkit.text.format import amount
from tests.support.running import Run
from tests.support.transcript import Home

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
# Two responses of Opus 4.6 and one of Haiku 4.5, each of 10 tokens of input, 1,000 from the cache, and 20 of output.
COST = (2 * (10 * 5 + 1_000 * 0.5 + 20 * 25) + 10 * 1 + 1_000 * 0.1 + 20 * 5) / 1e6


@pytest.fixture
def counted(home: Home, run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Two sessions on two days, one of them with a call that failed, on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    shop = home.session(SESSION)
    shop.prompt("find the slow query")
    shop.thinking("let me see")
    call = shop.call("Bash", {"command": "ls"})
    shop.result(call, "no such file", is_error=True)
    shop.text("it is the join")
    other = home.session(OTHER, cwd="/home/mira/src/\x1b[31mledger" + "/deeper" * 12, model="claude-haiku-4-5")
    other.prompt("what is this", timestamp="2026-03-03T12:00:00Z")
    other.text("a ledger", timestamp="2026-03-03T12:00:01Z")
    run("index")
    return run


def test_json_has_exact_figures(counted: Run) -> None:
    """A response counts once, although each of its blocks is a record that repeats its usage."""
    answer = counted("stats", "--json")

    assert 0 == answer.status
    assert {
        "sessions": 2,
        "prompts": 2,
        "responses": 3,
        "calls": 1,
        "failed": 1,
        "tokens": {"input": 30, "output": 60, "cache_read": 3_000, "cache_write": 0},
        "cost": pytest.approx(COST),
        "estimated": pytest.approx(COST),
        "unpriced": 0,
        "api_ms": None,
        "output_per_second": None,
    } == answer.json["total"]
    assert {"day", "project", "model", "tool"} == set(answer.json["groups"])
    assert ["2026-03-01", "2026-03-03"] == [group["label"] for group in answer.json["groups"]["day"]]
    assert [("Bash", 1, 1)] == [
        (group["label"], group["calls"], group["failed"]) for group in answer.json["groups"]["tool"]
    ]


@pytest.mark.parametrize("filters", [(), ("-session:1",)])
def test_there_are_as_many_sessions_as_are_listed(counted: Run, home: Home, filters: tuple[str, ...]) -> None:
    """A session that is known only from side files has no message, and is a session all the same."""
    home.todos("33333333-3333-4333-8333-333333333333", [{"content": "sweep", "status": "pending"}])
    counted("index")

    listed = counted("sessions", *filters, "--json").json["sessions"]
    total = counted("stats", *filters, "--json").json["total"]

    assert len(listed) == total["sessions"] > 0
    assert "sessions    3, 1 of them known only from side files, 0 agents" in counted("status").out


@pytest.mark.parametrize(
    ("arguments", "responses"),
    [(["--project", "shop"], 2), (["model:haiku"], 1), (["--after", "2026-03-02"], 1), (["slow"], 2)],
)
def test_figures_are_of_what_is_asked_for(counted: Run, arguments: list[str], responses: int) -> None:
    """Filters and words choose as they do for sessions."""
    assert responses == counted("stats", *arguments, "--json").json["total"]["responses"]


@pytest.mark.parametrize("by", [None, "day", "week", "month", "project", "model", "tool", "file"])
def test_everything_fits_the_terminal(counted: Run, by: str | None) -> None:
    """No line is wider than 80 columns, and nothing of a transcript commands the terminal."""
    answer = counted("stats", *(["--by", by] if by else []))

    assert (0, "") == (answer.status, answer.err)
    assert [] == [line for line in answer.out.splitlines() if columns(click.unstyle(line)) > 80]
    assert "\x1b[31m" not in answer.out


def test_overview_is_compact(counted: Run) -> None:
    """The overview says how much, when, where, by which models and with which tools."""
    shown = counted("stats").out

    assert "2 prompts, 3 responses in 2 sessions" in shown
    assert "1 call, 100 % of them failed" in shown
    assert "2026-03-01 to 2026-03-03, 2 days with messages" in shown
    assert all(title in shown for title in ("messages a day", "by project", "by model", "by tool"))


def test_table_is_limited(counted: Run) -> None:
    """Of days the last are shown, of all else the largest, and how many more there are."""
    days, models = counted("stats", "--by", "day", "--limit", "1"), counted("stats", "--by", "model", "--limit", "1")

    assert ["2026-03-03", "and 1 more"] == [line[:10] for line in days.out.splitlines()[1:]]
    assert ["claude-opus-4-6", "and 1 more (--l"] == [line[:15] for line in models.out.splitlines()[1:]]


def test_nothing_to_count_is_status_1(counted: Run) -> None:
    """Where nothing answers to a filter, the nearest values are named."""
    answer, as_json = counted("stats", "--project", "shopp"), counted("stats", "--project", "shopp", "--json")

    assert (1, "", True) == (answer.status, answer.out, "There is nothing to count" in answer.err)
    assert "project:shopp; the nearest are" in answer.err
    assert (1, 0) == (as_json.status, as_json.json["total"]["sessions"])


def test_bars_fill_the_width() -> None:
    """The largest number has the longest bar, a small one is still seen, and nothing has none."""
    lines = list(bars({"Bash": 1_000, "Read": 500, "x": 1, "none": 0}, 40))

    assert ["Bash  1,000  " + "█" * 27, "Read    500  " + "█" * 13 + "▌", "x         1  ▏", "none      0"] == lines


def test_labels_are_cut_where_they_say_least() -> None:
    """Of a path the end stays, of all else the beginning, and wide characters count twice."""
    assert ("…/shop", "claude-…", "工作") == (fitted("/home/mira/shop", 6), fitted("claude-opus", 8), fitted("工作", 4))
    assert ["工作  1  ██████"] == list(bars({"工\x07作": 1}, 15))


@pytest.mark.parametrize(
    ("numbers", "width", "drawn"),
    [([], 5, ""), ([0, 1, 4, 8], 5, " ▁▄█"), ([1, 1, 2, 2, 4], 3, "▄██"), ([3], 1, "█"), ([0, 0], 2, "  ")],
)
def test_sparkline_adds_up_neighbours(numbers: list[float], width: int, drawn: str) -> None:
    """Every number has a column of its own, unless there are too many."""
    assert drawn == sparkline(numbers, width)


def test_bar_of_nothing_is_nothing() -> None:
    """Neither a number of zero nor a scale of zero draws anything."""
    assert ("", "", "▏") == (bar(0, 5, 10), bar(3, 0, 10), bar(0.001, 5, 10))


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (99_999, "100.0k"), (154_000, "154k"), (2_600_000_000, "2.6G")],
)
def test_amounts_have_few_digits(number: int, written: str) -> None:
    """A large number is told by its size."""
    assert written == amount(number)
