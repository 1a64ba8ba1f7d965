"""Passages that show why a text was found."""

import re

from searchkit.search.snippets import cut


def _marks(text: str, *words: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer("|".join(words), text)]


def test_passage_holds_most_of_the_words() -> None:
    """Of a long text the passage is shown where the words stand together, and they are marked."""
    text = "slow " + "filler " * 200 + "the slow query was the join " + "filler " * 200

    passage = cut(text, _marks(text, "slow", "query", "join"))

    assert passage.text.startswith("… ")
    assert passage.text.endswith(" …")
    assert ["slow", "query", "join"] == [passage.text[start:end] for start, end in passage.highlights]


def test_short_text_is_shown_whole_on_one_line() -> None:
    """A text that fits is not cut; its lines are joined, and marks move along."""
    text = "a\n  slow\tquery  "

    passage = cut(text, _marks(text, "query"))

    assert "a slow query" == passage.text
    assert ["query"] == [passage.text[start:end] for start, end in passage.highlights]


def test_text_without_the_words_begins_at_its_beginning() -> None:
    """Where no word stands as it was asked for, the beginning is shown."""
    passage = cut("x" * 1_000, [])

    assert (True, []) == (passage.text.startswith("xxx"), passage.highlights)


def test_marks_at_the_edges_stay_inside_the_passage() -> None:
    """A mark that the passage cuts is cut with it."""
    text = "word" * 500

    passage = cut(text, [(0, len(text))])

    assert all(0 <= start < end <= len(passage.text) for start, end in passage.highlights)
