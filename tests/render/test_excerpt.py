"""What is shown of a passage fits, holds what was asked for, and has no ellipsis twice."""

import re

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkit.render.lines import columns, cut
from searchkit.render.search import excerpt
from searchkit.search.types import Passage


def passage(text: str) -> Passage:
    """Make a passage of a text in which what was asked for is in brackets."""
    highlights: list[tuple[int, int]] = []
    for found in re.finditer(r"\[(.*?)\]", text):
        start = found.start() - 2 * len(highlights)
        highlights.append((start, start + len(found[1])))
    return Passage(text=re.sub(r"[\[\]]", "", text), highlights=highlights)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the [giraffe] is here", "the giraffe is here"),
        ("the [giraffe] is here and there", "the giraffe is …"),
        ("a very long beginning and then the [giraffe]", "… then the giraffe"),
        ("a very long beginning then the [giraffe] and more", "… the giraffe and …"),
        ("… the [giraffe] is here and …", "… the giraffe is …"),
        ("the [giraffe] was there and here", "the giraffe was …"),
        ("… very long beginning then [giraffe] …", "… then giraffe …"),
        ("the [giraffe] is so … and there is more", "the giraffe is so …"),
        ("the [giraffe] was… …", "the giraffe was …"),
        ("nothing is marked in this text", "nothing is marked …"),
        ("长颈鹿在这里长颈鹿在那里[鹿角]", "… 里长颈鹿在那里鹿角"),
        ("x" * 40 + "[giraffe]", "… xxxxxxxxxxxgiraffe"),
        ("a [giraffeandmuchmorethanalinecanhold]", "… giraffeandmuchmo …"),
    ],
)
def test_line_is_cut_around_what_was_asked_for(text: str, shown: str) -> None:
    """Of a passage that is shown on one line, the first word that was asked for is seen."""
    (line,) = excerpt(passage(text), 20, 1)

    assert shown == click.unstyle(line)


def test_marks_stay_where_they_were() -> None:
    """What was marked in the passage is marked in the line, word by word."""
    (line,) = excerpt(passage("a very long beginning and [two words] here"), 24, 1)

    words = " ".join(click.style(word, fg="yellow", bold=True) for word in ("two", "words"))
    assert f"… and {words} here" == line


def test_long_passage_ends_in_one_ellipsis() -> None:
    """What does not fit on the lines is told by a single ellipsis, also where the passage has one there."""
    lines = {width: excerpt(passage("one [two] three four … five66666 seven …"), width, 2) for width in (8, 13)}

    assert ["one two", "three …"] == [click.unstyle(line) for line in lines[8]]
    assert ["one two three", "four …"] == [click.unstyle(line) for line in lines[13]]


def test_word_at_the_end_of_a_passage_is_among_its_lines() -> None:
    """Where the lines would end before the first word that was asked for, they begin later."""
    lines = excerpt(passage("one two three four five six seven eight nine [ten] eleven"), 12, 2)

    assert ["… nine ten", "eleven"] == [click.unstyle(line) for line in lines]


@given(
    st.text(alphabet="ab …。字\x1b", max_size=60),
    st.text(alphabet="ab字", min_size=1, max_size=4),
    st.text(alphabet="ab …字", max_size=60),
    st.integers(20, 40),
    st.integers(1, 3),
)
def test_lines_fit(before: str, word: str, after: str, width: int, most_lines: int) -> None:
    """Whatever the passage, no line is longer than there is room, and there are no more than were asked for."""
    start = len(before)
    lines = excerpt(Passage(text=before + word + after, highlights=[(start, start + len(word))]), width, most_lines)

    assert all(columns(line) <= width for line in lines)
    assert len(lines) <= most_lines
    if most_lines == 1:
        assert click.style(word, fg="yellow", bold=True) in lines[0]


def test_cut_adds_no_second_ellipsis() -> None:
    """A text that is cut behind an ellipsis of its own has but that one."""
    assert "wait …" == cut("wait … and more", 8)
    assert "wait and…" == cut("wait and more", 9)
