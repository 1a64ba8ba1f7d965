"""How what was said and done is taken apart for showing: code in texts, edits and commands in calls, time between."""

import time

import pytest

from searchkit.render import conversation
from searchkit.render.document import LANGUAGES, MOST_CHARACTERS, Code, Command, Diff, Piece, Prose, Row, spans
from searchkit.render.lines import broken, columns, middle_cut, sliced, source_lines
from searchkit.render.wording import gap, short
from searchkit.sources.json_values import written_out
from searchkit.sources.parts import digest
from searchkit.types import Field, Kind, Part, Role

HOUR = 3_600_000
# The first of March 2026, 22:00 UTC.
EVENING = 1_772_402_400_000


def call(tool: str, values: dict[str, object], fields: tuple[Field, ...] | None = None) -> Part:
    """Make the part of a tool call as a source does."""
    text, found = written_out(values)
    laid = found if fields is None else fields
    value = digest(Kind.TOOL_CALL, text)
    return Part(
        uuid="u",
        block=0,
        kind=Kind.TOOL_CALL,
        role=Role.ASSISTANT,
        text=text,
        digest=value,
        tool=tool,
        call="c",
        fields=laid,
    )


def signed(piece: Piece) -> list[str]:
    """Write a change the way `diff` does."""
    assert isinstance(piece, Diff)
    return [f"{row.sign}{row.text}" for row in piece.rows]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("only words", [Prose(text="only words")]),
        ("a\n\n```py\nx = 1\n```\n\nb", [Prose(text="a"), Code(text="x = 1", language="py"), Prose(text="b")]),
        ("```\nnever closed\n``\n", [Code(text="never closed\n``\n")]),
        ("````\n```\n````", [Code(text="```")]),
        ("~~~ Sh title\n```\n~~~~", [Code(text="```", language="sh")]),
        ("- item\n  ```js\n  a\n    b\n  ```", [Prose(text="- item"), Code(text="a\n  b", language="js")]),
        ("a ```inline``` b", [Prose(text="a ```inline``` b")]),
        ("\n \n", []),
    ],
)
def test_fenced_code_is_told_from_words(text: str, pieces: list[Piece]) -> None:
    """A fence ends with one of its own kind, at least as long; what is indented with it comes without."""
    assert pieces == conversation.text_pieces(text)


def test_edit_is_a_change() -> None:
    """What was replaced and what replaced it are one change; what is as usual is not told."""
    edited = call("Edit", {"file_path": "/a.py", "old_string": "x\ny", "new_string": "x\nz", "replace_all": False})

    (change,) = conversation.call_pieces(edited)

    assert isinstance(change, Diff)
    assert ("/a.py", [" x", "-y", "+z"]) == (change.path, signed(change))


def test_several_edits_are_several_changes() -> None:
    """MultiEdit and the servers that edit files have lists of edits; what else they were told follows."""
    edits = [{"oldText": "a", "newText": "b"}, {"oldText": "c", "newText": "d"}]

    first, second, rest = conversation.call_pieces(
        call("mcp__files__edit_file", {"path": "/a", "edits": edits, "dryRun": True})
    )

    assert (["-a", "+b"], ["-c", "+d"]) == (signed(first), signed(second))
    assert Code(text="dryRun: true") == rest


def test_written_file_is_all_new() -> None:
    """Every line of a file that is written is added; the end of the last line is no line."""
    (change,) = conversation.call_pieces(call("Write", {"file_path": "/a.py", "content": "x = 1\n\ny = 2\n"}))

    assert ["+x = 1", "+", "+y = 2"] == signed(change)


def test_command_is_shown_as_it_was_typed() -> None:
    """A command comes with what it was for, and with what else was told of it."""
    shown = conversation.call_pieces(call("Bash", {"command": "ls\npwd", "description": "Look", "timeout": 5}))

    assert [Command(text="ls\npwd", purpose="Look"), Code(text="timeout: 5")] == shown


@pytest.mark.parametrize("fields", [(), (Field(name="command", start=3, end=9),), (Field(name="x", start=0, end=99),)])
def test_call_whose_fields_lie_is_shown_as_it_is(fields: tuple[Field, ...]) -> None:
    """Where the text is not laid out as its fields say, nothing is made of them."""
    told = call("Bash", {"command": "ls"}, fields)

    assert [Code(text="command: ls")] == conversation.call_pieces(told)


def test_unchanged_lines_are_counted() -> None:
    """Three unchanged lines stay around a change; the others are told by their number."""
    old = [str(number) for number in range(20)]
    new = [*old[:10], "ten", *old[11:]]

    rows = [f"{row.sign}{row.text}" for row in conversation.rows("\n".join(old), "\n".join(new))]

    assert ["@7 lines unchanged", " 7", " 8", " 9", "-10", "+ten", " 11", " 12", " 13", "@6 lines unchanged"] == rows


def test_large_change_is_compared_in_bounded_time() -> None:
    """Texts that have nothing in common but are long are told as one change at once."""
    old, new = ("\n".join(f"{name} {number % 7}" for number in range(20_000)) for name in "ab")
    began = time.perf_counter()

    rows = conversation.rows(f"same\n{old}", f"same\n{new}")

    assert (Row(sign=" ", text="same"), 40_001) == (rows[0], len(rows))
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("hours", "shown"),
    [(0.5, []), (1, ["1 h later"]), (1.9, ["1 h later"]), (3, ["2026-03-02, 3 h later"]), (-5, [])],
)
def test_gaps(monkeypatch: pytest.MonkeyPatch, hours: float, shown: list[str]) -> None:
    """An hour is worth a line, and so is another day; a time that runs backwards is not."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    try:
        found = [note.text for note in gap(EVENING - HOUR, EVENING - HOUR + int(hours * HOUR))]
        unknown = [*gap(None, EVENING), *gap(EVENING, None)]
    finally:
        monkeypatch.undo()
        time.tzset()

    assert (shown, []) == (found, unknown)


def test_midnight_is_worth_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another day that begins after minutes is told without how long that took."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()

    try:
        (note,) = gap(EVENING + 2 * HOUR - 1_000, EVENING + 2 * HOUR)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert "2026-03-02" == note.text


@pytest.mark.parametrize("language", [*sorted(LANGUAGES), "klingon", None])
def test_highlighting_changes_no_text(language: str | None) -> None:
    """Whatever the language, the stretches of a line put together are the line."""
    text = 'def f(x):\n    return "a\n\t`b` <c> # d\n\n/* e */ $f -g @h 中文 \\'

    lines = ["".join(part for _, part in line) for line in spans(Code(text=text, language=language))]

    assert text.split("\n") == lines


def test_only_so_much_code_is_highlighted() -> None:
    """Long code is left as it is."""
    code = Code(text="def f(): pass\n" * MOST_CHARACTERS, language="python")

    assert {""} == {role for line in spans(code) for role, _ in line}


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("one two three", ["one two", "three"]),
        ("  - one two three", ["  - one", "    two", "    three"]),
        ("10. one two", ["10. one", "    two"]),
        ("abcdefghijklmnop", ["abcdefghi", "jklmnop"]),
        ("登录失败请看", ["登录失败", "请看"]),
        ("", [""]),
    ],
)
def test_words_are_broken_below_their_beginning(line: str, rows: list[str]) -> None:
    """What continues an item of a list stands below its words."""
    assert rows == list(broken(line, 9))


def test_code_is_broken_where_a_row_is_full() -> None:
    """A row of code is full before it is broken, counts wide characters twice, and ends its colours."""
    coloured = "ab\x1b[31mcdef\x1b[0mg"

    assert ["ab\x1b[31mc\x1b[0m", "\x1b[31mdef\x1b[0m", "g"] == list(sliced(coloured, 3))
    assert ["登", "录a"] == list(sliced("登录a", 3))
    assert all(columns(row) <= 7 for row in sliced("x登" * 50, 7))


def test_long_texts_are_cut_in_the_middle() -> None:
    """Two thirds of what is shown are the beginning, the rest the end; how much is missing is said between them."""
    rows = [str(number) for number in range(20)]

    assert [*"0123", "... 14 lines more (--full) ...", "18", "19"] == middle_cut(rows, 6, is_full=False)
    assert rows == middle_cut(rows, 6, is_full=True)
    assert rows == middle_cut(rows, 17, is_full=False)


def test_long_line_is_cut_in_the_middle_too() -> None:
    """A line of a million characters says how many are left out, and loses what commands a terminal."""
    (line,) = source_lines("\x1b[31m" + "x" * 1_000_000, is_full=False)
    (whole,) = source_lines("x" * 1_000_000, is_full=True)

    assert "[... 998,004 characters more (--full) ...]" in line
    assert ("\x1b" in line, 1_000_000) == (False, len(whole))


@pytest.mark.parametrize(
    ("id", "shown"),
    [("81A41C60-a28e-4af5-ab89-a478b51e9500", "81A41C60"), ("edge_001", "edge_001"), ("x" * 99, "x" * 36)],
)
def test_short_ids(id: str, shown: str) -> None:
    """A uuid goes by its beginning; of other ids none is cut that is not long."""
    assert shown == short(id)
