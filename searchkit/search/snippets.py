"""The passage of a text that shows why it was found, the passage that answers, and cutting a text to whole lines."""

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from searchkit.backends.base import Stored
from searchkit.search.types import Conclusion, Passage
from searchkit.types import Kind

# Four lines of a terminal of 100 columns.
PASSAGE_CHARACTERS = 320
# Of an answer: three lines of a terminal of 120 columns.
ANSWER_CHARACTERS = 320
# What is seen of them there, in four lines and in three.
PASSAGE_SEEN = 290
ANSWER_SEEN = 240
# What comes later in an answer is not looked at.
MAX_READ = 8_000
# A text of fewer bytes, such as "All tests pass.", seldom explains anything; as for the meaning of a text.
SHORT_BYTES = 200
# What being the last text of a turn counts, in words that were asked for: it decides between equals.
LAST_WORTH = 0.5
# Kinds of text that say in one place what another was about, and in the end what came of it.
REPORTS = frozenset({Kind.TEXT, Kind.PLAN, Kind.SUMMARY})
PROSE = REPORTS | {Kind.THINKING, Kind.MEMORY}
# A text that another one of so many times its length follows in its turn was said on the way.
CONCLUSION_RATIO = 1.5
_BLANKS = re.compile(r"\s+")
_LEFT_OUT = "… "


def passage(stored: Stored, marks: Sequence[tuple[int, int]]) -> Passage:
    """Cut the stretch of a part that says most of what was asked for; of prose it begins with a sentence."""
    text = stored.part.text
    if stored.part.kind not in PROSE or len(text) <= PASSAGE_CHARACTERS:
        return cut(text, marks)
    return _on_one_line(text, marks, _passage_start(text, marks), PASSAGE_CHARACTERS)


def _passage_start(text: str, marks: Sequence[tuple[int, int]]) -> int:
    return _telling(text, marks, PASSAGE_SEEN) if len(text) <= MAX_READ else _around(text, marks, PASSAGE_CHARACTERS)


def cut(text: str, marks: Sequence[tuple[int, int]], max_chars: int = PASSAGE_CHARACTERS) -> Passage:
    """Cut the stretch that holds most different marked words, onto one line, with an ellipsis where it was cut."""
    return _on_one_line(text, marks, _around(text, marks, max_chars), max_chars)


def _around(text: str, marks: Sequence[tuple[int, int]], max_chars: int) -> int:
    start = densest(text, marks, max_chars)
    start = max(0, min(start - max_chars // 4, len(text) - max_chars))
    if start:
        # Not in the middle of a word, where one begins soon.
        blank = _BLANKS.search(text, start, start + max_chars // 8)
        start = blank.end() if blank else start
    return start


def _on_one_line(text: str, marks: Sequence[tuple[int, int]], start: int, max_chars: int) -> Passage:
    end = min(len(text), start + max_chars)
    written, highlights = _LEFT_OUT if start else "", []
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
            start = _telling(text, found, ANSWER_SEEN)
            best = Conclusion(stored=reply, passage=_on_one_line(text, found, start, ANSWER_CHARACTERS))
            most = worth
    return best


def answers_itself(stored: Stored, replies: Sequence[Stored] = ()) -> bool:
    """Say whether a part is a text that says more than what is done next, and that no report follows."""
    if stored.part.kind is not Kind.TEXT or not _is_long(stored.part.text):
        return False
    return not replies or len(replies[-1].part.text) < CONCLUSION_RATIO * len(stored.part.text)


def beside(stored: Stored, marks: Sequence[tuple[int, int]]) -> Conclusion | None:
    """Return the stretch of a report that says most beside its passage, such as its last paragraph."""
    text = stored.part.text.rstrip()
    if stored.part.kind not in REPORTS or len(text) <= PASSAGE_CHARACTERS:
        return None
    first = _passage_start(text, marks)
    shown = first, first + PASSAGE_CHARACTERS
    is_long = len(text) > MAX_READ
    start = text.rfind("\n\n") + 2 if is_long else _telling(text, marks, ANSWER_SEEN, shown)
    room = min(ANSWER_CHARACTERS, shown[0] - start) if start < shown[0] else ANSWER_CHARACTERS
    if shown[0] <= start < shown[1] or start >= len(text):
        return None
    cut_off = _on_one_line(text, marks, start, room)
    moved = len(_LEFT_OUT) if cut_off.text.startswith(_LEFT_OUT) else 0
    highlights = [(begin - moved, end - moved) for begin, end in cut_off.highlights]
    return Conclusion(
        stored=stored, passage=without_markdown(Passage(text=cut_off.text[moved:], highlights=highlights))
    )


# What says in English what something came to is worth a word that was asked for.
_CONCLUDING = re.compile(
    r"\b(?:root cause|cause[ds]?|fix(?:ed)?|because|turns out|instead of|due to|solution|resolved|bottom line"
    r"|short answer|recommend\w*|the (?:only )?(?:issue|problem|bug|reason|culprit) (?:is|was))\b"
)
CONCLUDING_WORTH = 1.0
# What a text offers, asks or says that it does next is worth nothing.
_OFFERING = re.compile(
    r"(?:^[ \t>*_-]*|(?<=[.!?] ))(?:want me|would you|do you want|should i|shall i|let me|let's|if you|please|try"
    r"|sources?:|feel free|next steps?)\b[^\n]*",
    re.MULTILINE,
)
# The beginning and the last paragraph are worth something where no word decides.
FIRST_WORTH = 1.0
LAST_PARAGRAPH_WORTH = 1.25
# Of a text with more marked places the first are looked at.
MOST_PLACES = 100
_SENTENCE_END = re.compile(r"\n\s*|[.!?]\s+|\u3002")


def _telling(text: str, marks: Sequence[tuple[int, int]], max_chars: int, shown: tuple[int, int] | None = None) -> int:
    """Return where the stretch begins that says most, at a sentence where one begins soon, the first of equals.

    Different words count, the seldom ones in the text more, and what it came to. Beside what is shown already, only
    what is new counts.
    """
    begin, end = shown or (0, 0)
    text = text.rstrip()
    small = text.lower()
    # Where lower letters take other room, nothing is known of them.
    small = small if len(small) == len(text) else ""
    offers = [found.span() for found in _OFFERING.finditer(small)]
    last = text.rfind("\n\n") + 2

    def is_useful(at: int) -> bool:
        return not begin <= at < end and not any(first <= at < stop for first, stop in offers)

    words = [(start, stop, text[start:stop].casefold()) for start, stop in marks]
    counts = Counter(word for _, _, word in words)
    known = {word for start, _, word in words if begin <= start < end}
    useful = [one for one in words if is_useful(one[0])][:MOST_PLACES]
    concluding = [found.start() for found in _CONCLUDING.finditer(small) if is_useful(found.start())][:MOST_PLACES]
    places = {_sentence(text, at, max_chars) for at in (*(start for start, _, _ in useful), *concluding)}
    places |= {0} if not begin else {0, last}

    def worth(start: int) -> float:
        stop = start + max_chars
        stop = begin if start < begin < stop else stop
        new = {word for first, after, word in useful if start <= first and after <= stop} - known
        value = sum(1 / math.sqrt(counts[word]) for word in new)
        value += CONCLUDING_WORTH * any(start <= at < stop for at in concluding)
        value += FIRST_WORTH * (start == 0)
        return value + LAST_PARAGRAPH_WORTH * (begin > 0 or end > 0) * (start >= last > 1 and is_useful(last))

    allowed = [place for place in sorted(places) if not begin <= place < end] or [0]
    return max(allowed, key=worth)


def _sentence(text: str, at: int, max_chars: int) -> int:
    """Return where the sentence or line begins that a place is in, or a word shortly before the place."""
    least = max(0, at - max_chars // 3)
    if not least:
        return 0
    ends = [found.end() for found in _SENTENCE_END.finditer(text, least, at)]
    if ends:
        return ends[0] if at - ends[0] <= max_chars // 3 else ends[-1]
    blank = text.find(" ", least, at)
    return blank + 1 if blank >= 0 else at


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
