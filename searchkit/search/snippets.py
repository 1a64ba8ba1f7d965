"""The passage of a text that shows why it was found, the passage that answers, and cutting a text to whole lines."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from searchkit.backends.base import Stored
from searchkit.search.types import Conclusion, Passage
from searchkit.types import Kind

PASSAGE_CHARACTERS = 280
# Of an answer: three lines of a terminal of 120 columns.
ANSWER_CHARACTERS = 320
# What comes later in an answer is not looked at.
MAX_READ = 8_000
# A text of fewer bytes, such as "All tests pass.", seldom explains anything; as for the meaning of a text.
SHORT_BYTES = 200
# What being the last text of a turn counts, in words that were asked for: it decides between equals.
LAST_WORTH = 0.5
# Kinds of text that end in a conclusion of their own.
REPORTS = frozenset({Kind.TEXT, Kind.PLAN})
_BLANKS = re.compile(r"\s+")


def cut(text: str, marks: Sequence[tuple[int, int]], max_chars: int = PASSAGE_CHARACTERS) -> Passage:
    """Cut the stretch that holds most different marked words, onto one line, with an ellipsis where it was cut."""
    start = densest(text, marks, max_chars)
    start = max(0, min(start - max_chars // 4, len(text) - max_chars))
    if start:
        # Not in the middle of a word, where one begins soon.
        blank = _BLANKS.search(text, start, start + max_chars // 8)
        start = blank.end() if blank else start
    return _on_one_line(text, marks, start, max_chars)


def _on_one_line(text: str, marks: Sequence[tuple[int, int]], start: int, max_chars: int) -> Passage:
    end = min(len(text), start + max_chars)
    written, highlights = "… " if start else "", []
    at = start
    for first, last in marks:
        if last <= start or first >= end:
            continue
        written = _joined(written, text[at : max(first, start)])
        before, written = len(written), _joined(written, text[max(first, start) : min(last, end)])
        highlights.append((before, len(written)))
        at = min(last, end)
    written = _joined(written, text[at:end]).rstrip()
    return Passage(text=written + (" …" if end < len(text) else ""), highlights=highlights)


def densest(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> int:
    """Return where the window begins that holds most different words, the first of equals."""
    best, most = (marks[0][0] if marks else 0), 0
    last = 0
    words = [text[start:end].casefold() for start, end in marks]
    for first, (start, _) in enumerate(marks):
        while last < len(marks) and marks[last][1] <= start + max_chars * 3 // 4:
            last += 1
        different = len(set(words[first:last]))
        if different > most:
            best, most = start, different
    return best


def _joined(written: str, more: str) -> str:
    """Add a piece with its white space folded, also where it meets what was written."""
    folded = _BLANKS.sub(" ", more)
    return written + (folded.lstrip() if not written or written[-1] == " " else folded)


# The text that answers what was found.

Marks = Callable[[str], Sequence[tuple[int, int]]]
_PARAGRAPH = re.compile(r"\n\s*\n")


def answering(replies: Sequence[Stored], marks: Marks) -> Conclusion | None:
    """Choose the text that answers a prompt or a step: the one with most words that were asked for.

    A long text counts a word more, and the last one decides between equals.
    """
    best, most = None, -1.0
    for reply in reversed(replies):
        text = without_markdown(Passage(text=reply.part.text[:MAX_READ])).text
        found = marks(text)
        worth = _different(text, found) + _is_long(text) + LAST_WORTH * (reply is replies[-1])
        if worth > most:
            best, most = Conclusion(stored=reply, passage=_telling(text, found)), worth
    return best


def answers_itself(stored: Stored) -> bool:
    """Say whether a part is a text that says more than what is done next."""
    return stored.part.kind is Kind.TEXT and _is_long(stored.part.text)


def ending(stored: Stored, passage: Passage) -> Conclusion | None:
    """Return the last paragraph of a report of which the passage shows only an earlier part."""
    text = stored.part.text.rstrip()
    starts = [found.end() for found in _PARAGRAPH.finditer(text)]
    if stored.part.kind not in REPORTS or not starts:
        return None
    last = _on_one_line(text[starts[-1] :], (), 0, ANSWER_CHARACTERS)
    if last.text.removesuffix(" …") in passage.text:
        return None
    return Conclusion(stored=stored, passage=without_markdown(last))


def _telling(text: str, marks: Sequence[tuple[int, int]]) -> Passage:
    """Begin with the paragraph from which on most different words are marked, the first of equals."""
    starts = [0, *(found.end() for found in _PARAGRAPH.finditer(text))]

    def different(start: int) -> int:
        return _different(text, [one for one in marks if start <= one[0] < start + ANSWER_CHARACTERS])

    # The end of a text would leave most of the lines empty.
    starts = [start for start in starts if start == 0 or len(text) - start >= ANSWER_CHARACTERS // 2]
    return _on_one_line(text, marks, max(starts, key=different), ANSWER_CHARACTERS)


def _is_long(text: str) -> bool:
    return len(text[:SHORT_BYTES].encode("utf-8", "replace")) >= SHORT_BYTES


def _different(text: str, marks: Sequence[tuple[int, int]]) -> int:
    return len({text[start:end].casefold() for start, end in marks})


# Markdown goes; what stands in code, such as a glob, stays as it is.

# Each begins with the sign itself, and looks back from behind it: `re` passes quickly over what cannot begin.
_CODE = re.compile(r"(`(?<!``)`?)(?!`)([^`\n]+)\1(?!`)")
# Groups are what goes. Asterisks between letters, digits or the parts of a path are none of Markdown.
_SIGNS = (
    re.compile(r"(\*\*)(?<![A-Za-z0-9_/*.]\*\*)(?=[^\s*./])[^*\n]+(?<=\S)(\*\*)(?![A-Za-z0-9_/*])"),
    re.compile(r"(\*)(?<![A-Za-z0-9_/*.]\*)(?=[^\s*./])[^*\n]+(?<=[^\s*])(\*)(?![A-Za-z0-9_/*])"),
    re.compile(r"(\[)(?<![\w/\\]\[)[^\]\n]+(\]\([^()\s]+\))"),
    re.compile(r"(#(?:(?<=^#)|(?<=\s#)#)#{0,5}[ \t]+)", re.MULTILINE),
    re.compile(r"(^[ \t]*(?:-{3,}|\*{3,}|_{3,})[ \t]*$)", re.MULTILINE),
    re.compile(r"(`{3,}\w*\s?)"),
    re.compile(r"(\|(?:\s*:?-{3,}:?\s*\|)+)"),
)


def without_markdown(passage: Passage) -> Passage:
    """Take the signs of Markdown away; what was highlighted still is."""
    text, gone = passage.text, sorted(_markdown(passage.text))
    if not gone:
        return passage
    pieces, ends, left_out, at = [], [0], [0], 0
    for start, end in gone:
        if end > at:
            pieces.append(text[at:start])
            ends.append(end)
            left_out.append(left_out[-1] + end - max(at, start))
            at = end
    pieces.append(text[at:])

    def moved(position: int) -> int:
        """Return where a place is now; one inside a sign is where that was."""
        before = bisect_right(ends, position) - 1
        now = position - left_out[before]
        return min(now, ends[before + 1] - left_out[before + 1]) if before + 1 < len(ends) else now

    highlights = [(moved(start), moved(end)) for start, end in passage.highlights]
    return Passage(text="".join(pieces), highlights=[(start, end) for start, end in highlights if start < end])


def _markdown(text: str) -> Iterator[tuple[int, int]]:
    """Yield where signs of Markdown are."""
    for code in _CODE.finditer(text):
        yield from ((code.start(), code.start(2)), (code.end(2), code.end()))
    rest = _CODE.sub(lambda code: "x" * len(code[0]), text)
    for sign in _SIGNS:
        for found in sign.finditer(rest):
            yield from (found.span(group) for group in range(1, sign.groups + 1))


# Cuts a long text to a stretch of whole lines, and says in it how much was left out.


# Less than this is not left out: to say so would take as much room.
LEAST_LEFT_OUT = 60
# Of what is shown of a long text, at most this share is its last paragraph.
ENDING_SHARE = 0.4


def stretch(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> str:
    """Cut the lines around what is marked, or the first ones; where lines are long, between words."""
    if len(text) <= max_chars + LEAST_LEFT_OUT:
        return text
    wanted = densest(text, marks, max_chars) if marks else 0
    first = max(0, min(wanted - max_chars // 4, len(text) - max_chars))
    first = _after_break(text, first, wanted) if first > LEAST_LEFT_OUT else 0
    end = min(len(text), first + max_chars)
    end = _before_break(text, max(first, end - max_chars // 4), end) if end < len(text) - LEAST_LEFT_OUT else len(text)
    before = f"{_left_out(first)}\n" if first else ""
    after = f"\n{_left_out(len(text) - end)}" if end < len(text) else ""
    return before + text[first:end] + after


def stretch_and_end(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> str:
    """Cut the lines around what is marked, and add the last paragraph, where a report says what comes of it."""
    text = text.rstrip()
    last = text.rfind("\n\n") + 2
    room = max_chars - (len(text) - last)
    begun = stretch(text, marks, max_chars)
    if last < 2 or room < max_chars * (1 - ENDING_SHARE) or begun.endswith(text[last:]):
        return begun
    return stretch(text[:last].rstrip(), [mark for mark in marks if mark[1] <= last], room) + "\n\n" + text[last:]


def _after_break(text: str, first: int, last: int) -> int:
    """Return where the first line, else the first word, begins between two places, else the first place."""
    for sign in ("\n", " "):
        found = text.find(sign, first, last)
        if found >= 0:
            return found + 1
    return first


def _before_break(text: str, first: int, last: int) -> int:
    """Return where the last line, else the last word, ends between two places, else the last place."""
    for sign in ("\n", " "):
        found = text.rfind(sign, first, last + 1)
        if found > first:
            return found
    return last


def _left_out(characters: int) -> str:
    return f"[... {characters:,} characters left out ...]"
