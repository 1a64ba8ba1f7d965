"""How an error was mended: from the place where it was seen to the one where it was gone, and what was changed between.

The place is a result that failed, or a prompt into which somebody pasted the error. What lies between is only told
where it has to do with the error: an edit of a file that the error names, or of a text that it speaks of, or another
command. Whatever else passed later may have passed by itself.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from searchkit.backends.base import Catalog, Step, Stored
from searchkit.conversation.excerpt import excerpt
from searchkit.conversation.fixes import FAR_RESULTS, MOST_CHANGES, Attempt, attempts_of, subjects_of
from searchkit.conversation.turns import steps_of
from searchkit.sources.tools import REPLACED, changes_files, runs_commands
from searchkit.types import Kind, Part

# What tells one error from another: its lines that say what went wrong, without what changes from run to run.
#
# An error is known where a text holds its telling words, rare ones counting more, close together. Numbers, addresses,
# times and the directories of paths differ between two runs of the same thing, so they are not looked at.


# Lines that say what went wrong; of a long error they are what can be found again.
# An option such as `-Werror` in a command says nothing of the kind.
_KEY_LINE = re.compile(
    r"(?<!-W)error|exception|fail|fatal|cannot|can't|denied|refused|not found|undefined|panic|assert", re.I
)
# Places in code, and the code there: what was raised is said again below, with its values.
_FRAME = re.compile(r'File "|at .+[:(].*\d+\)?$|raise\b|return\b|Traceback \(|npm (?:error|ERR!) A complete log')
_COLOURS = re.compile(r"\x1b\[[\d;]*m|\[\d{1,2}m")
_PATH = re.compile(r"(?:\b[a-z]+:(?=//)|\b[A-Za-z]:(?=[/\\]))?[\w.~@%+-]*(?:[/\\]+[\w.~@%+-]+)+")
_VARYING = re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{8,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b", re.I)
# Numbers, and rules drawn across a page.
_EMPTY = re.compile(r"[\d._-]+")
# The name of a file, an option or a module is one word: its parts stand everywhere.
_ERROR_WORD = re.compile(r"\w+(?:[.-]\w+)*")

MAX_LINES = 4
MAX_CHARACTERS = 400
# The share of an error's telling words, by their rarity, that a text must hold to be of the same error.
# Of 42 errors that occur nowhere in real transcripts none has more than 0.70 anywhere; where one did occur, its place
# has 0.77 or more, and nearly always 1 (docs/ranking.md).
FLOOR = 0.75
# A word of so much of the rarity of the rarest one is what the error is about.
_SPECIFIC = 0.5
_MIN_SPECIFIC_CHARACTERS = 3
# Of a long text its beginning and its end are looked at, so many characters each.
_MOST_CHARACTERS = 100_000


class Likeness(NamedTuple):
    """The share of an error that a text holds, and where in the text it does."""

    share: float
    place: int


class Telling(NamedTuple):
    """The words of each line of an error that tells what went wrong, and how rare they are."""

    lines: Sequence[frozenset[str]]
    rarities: Mapping[str, float]

    def likeness(self, text: str) -> Likeness:
        """Say how much of the error a text holds: of each line, what two adjacent lines of the text hold together."""
        total = sum(map(self._weight, self.lines))
        if not total:
            return Likeness(0.0, 0)
        best = [Likeness(0.0, 0)] * len(self.lines)
        before: frozenset[str] = frozenset()
        start_before = 0
        for start, line in _lines(text):
            words = line_words(line)
            for number, wanted in enumerate(self.lines):
                # What one line holds is where that line is.
                for held, place in ((wanted & words, start), (wanted & (words | before), start_before)):
                    weight = self._weight(held)
                    if weight > best[number].share:
                        best[number] = Likeness(weight, place)
            before, start_before = words, start
        rarest = max(best)
        return Likeness(sum(one.share for one in best) / total, rarest.place)

    def is_known(self, text: str) -> bool:
        """Say whether a text tells of the same error."""
        return self.likeness(text).share >= FLOOR

    @property
    def rarest(self) -> list[str]:
        """The words by their rarity, the rarest first."""
        return sorted(self.rarities, key=lambda word: (-self.rarities[word], word))

    @property
    def specific(self) -> list[str]:
        """The words that say what the error is about, beside what kind of error it is."""
        least = _SPECIFIC * max(self.rarities.values(), default=0.0)
        return [word for word in self.rarest if self.rarities[word] >= least and len(word) >= _MIN_SPECIFIC_CHARACTERS]

    def _weight(self, words: frozenset[str]) -> float:
        return sum(self.rarities[word] for word in words)


def telling(error: str, rarity: Callable[[str], float]) -> Telling:
    """Read an error, given how rare a word is."""
    lines = [words for one in key_lines(error).splitlines() if (words := line_words(one))]
    return Telling(lines, {word: rarity(word) for words in lines for word in words})


def key_lines(error: str) -> str:
    """Return the lines of an error that say what went wrong: the last of them, for a traceback ends in it."""
    lines = [one.strip() for one in error.splitlines() if one.strip()]
    if len(error) <= MAX_CHARACTERS and len(lines) <= 1:
        return error
    outside = [one for one in lines if not _FRAME.match(one)] or lines
    chosen = [one for one in outside if _KEY_LINE.search(one)] or outside
    return "\n".join(chosen[-MAX_LINES:])[-MAX_CHARACTERS:]


def line_words(line: str) -> frozenset[str]:
    """Return the words of a line that are the same in every run; of a path only the name of the file."""
    line = _PATH.sub(lambda path: re.split(r"[/\\]", path[0])[-1], _COLOURS.sub(" ", line))
    words = (word.casefold() for word in _ERROR_WORD.findall(_VARYING.sub(" ", line)))
    return frozenset(word for word in words if len(word) > 1 and not _EMPTY.fullmatch(word))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text, each with where it begins."""
    spans = [(0, len(text))]
    if len(text) > 2 * _MOST_CHARACTERS:
        spans = [(0, _MOST_CHARACTERS), (len(text) - _MOST_CHARACTERS, len(text))]
    for begin, end in spans:
        for line in text[begin:end].splitlines(keepends=True):
            yield begin, line
            begin += len(line)


# A changed command follows soon; later a command that looks like it is another one.
NEAR_RESULTS = 12
# The share of the words of two commands that both have, where one is the other one changed.
_ALIKE = 0.5
# Of the edits between, the last are read: what was changed last made it pass.
_MOST_READ = 24
# A shorter line that was replaced stands anywhere, and so does a shorter name.
_MIN_LINE_CHARACTERS = 8
_MIN_NAME_CHARACTERS = 3
# What was asked in a prompt may be done in the next turn, after a question.
_TURNS_AFTER = 1
_WORD = re.compile(r"[\w./\\=-]+")
_CHANGED_DIRECTORY = re.compile(r"^\s*cd\s[^&;|]*(?:&&|;)\s*")


class Mended(msgspec.Struct, frozen=True, kw_only=True):
    """What failed, what was changed, and what passed: calls before their results, or a prompt and what was answered."""

    failed: Sequence[Stored]
    changes: Sequence[Stored]
    passed: Sequence[Stored]
    edits: int


def mended(catalog: Catalog, seen: Stored, error: Telling) -> Mended | None:
    """Return how an error was mended that was seen in a failing result or in a prompt; None where that is not known."""
    found = excerpt(catalog, seen.part.uuid, 0, _TURNS_AFTER)
    if found is None:
        return None
    if seen.part.kind is Kind.TOOL_RESULT:
        return _rerun(catalog, seen, error, steps_of(found.near))
    several = (_answered(catalog, seen, error, steps_of(turn)) for turn in found.turns[found.own :])
    return next((one for one in several if one is not None), None)


def _rerun(catalog: Catalog, seen: Stored, error: Telling, steps: Sequence[Step]) -> Mended | None:
    attempts = attempts_of(steps)
    at = next((number for number, one in enumerate(attempts) if _is_of(one, seen.part)), None)
    if at is None:
        return None
    failed, later = attempts[at], attempts[at + 1 : at + 1 + FAR_RESULTS]
    later = [one for one in later if one.call.tool == failed.call.tool]
    subjects = subjects_of(catalog, [one.call for one in (failed, *later)])
    subject = subjects.get(failed.call.key, "")
    for number, one in enumerate(later):
        other = subjects.get(one.call.key, "")
        is_changed = number < NEAR_RESULTS and runs_commands(one.call.tool) and is_variant(subject, other)
        if not subject or one.result.is_error or not (subject == other or is_changed):
            continue
        told = _stored(catalog, [failed.call, failed.result, one.call, one.result])
        # A pipe may hide that a command failed.
        if len(told) < 4 or error.is_known(told[3].part.text):
            continue
        keys = [step.key for step in steps]
        between = steps[keys.index(failed.result.key) : keys.index(one.call.key)]
        passing = _passing(between)
        edits = [call for call in passing if changes_files(call.tool)]
        changes = _related(catalog, edits, told[:2], error)
        if not edits and not is_changed:
            changes = _speaking(catalog, [call for call in passing if runs_commands(call.tool)], error)
        if changes or is_changed:
            return Mended(failed=told[:2], changes=changes, passed=told[2:], edits=len(edits))
        return None
    return None


def _answered(catalog: Catalog, seen: Stored, error: Telling, steps: Sequence[Step]) -> Mended | None:
    """Take the edits of a turn for the fix of what was pasted, and the last that was said in it for the outcome."""
    edits = [call for call in _passing(steps) if changes_files(call.tool)]
    changes = _related(catalog, edits, [seen], error)
    outcome = _stored(catalog, [step for step in steps if step.kind is Kind.TEXT][-1:])
    is_mended = changes and outcome
    return Mended(failed=[seen], changes=changes, passed=outcome, edits=len(edits)) if is_mended else None


def _is_of(attempt: Attempt, part: Part) -> bool:
    return attempt.result.uuid == part.uuid and attempt.result.call == part.call and attempt.result.is_error


def _passing(steps: Sequence[Step]) -> list[Step]:
    return [one.call for one in attempts_of(steps) if not one.result.is_error]


def _related(catalog: Catalog, edits: Sequence[Step], failed: Sequence[Stored], error: Telling) -> list[Stored]:
    """Return the last edits that have to do with the error."""
    printed = "\n".join(one.part.text for one in failed)
    last = edits[-_MOST_READ:]
    read = zip(last, catalog.stored([call.key for call in last]), strict=True)
    return [one for call, one in read if one is not None and _is_related(call, one.part, printed, error)][
        -MOST_CHANGES:
    ]


def _speaking(catalog: Catalog, commands: Sequence[Step], error: Telling) -> list[Stored]:
    """Return the last commands that name what the error is about."""
    read = _stored(catalog, commands[-_MOST_READ:])
    return [one for one in read if _speaks_of(one.part.text, error)][-MOST_CHANGES:]


def _is_related(call: Step, part: Part, printed: str, error: Telling) -> bool:
    """Say whether an edit has to do with an error: by its file, the text it replaced, or what the error is about."""
    name = re.split(r"[/\\]", call.path or "")[-1]
    stem = name.partition(".")[0]
    if len(stem) >= _MIN_NAME_CHARACTERS and re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", printed):
        return True
    replaced = [part.text[field.start : field.end] for field in part.fields if field.name in REPLACED]
    lines = (line.strip() for text in replaced for line in text.splitlines())
    return any(len(line) >= _MIN_LINE_CHARACTERS and line in printed for line in lines) or _speaks_of(part.text, error)


def _speaks_of(text: str, error: Telling) -> bool:
    folded = text.casefold()
    return any(word in folded for word in error.specific)


def is_variant(one: str, other: str) -> bool:
    """Say whether a command is another one changed: the same program, half of the words, and not only its options."""
    words, others = (_WORD.findall(_CHANGED_DIRECTORY.sub("", command)) for command in (one, other))
    if one == other or not words or not others or words[0] != others[0]:
        return False
    both = {*words} & {*others}
    # Another directory that is listed is no directory that was missing.
    is_same_task = len(words) == 1 or any(not word.startswith("-") for word in both - {words[0]})
    return is_same_task and len(both) >= _ALIKE * len({*words} | {*others})


def _stored(catalog: Catalog, steps: Sequence[Step]) -> list[Stored]:
    return [stored for stored in catalog.stored([step.key for step in steps]) if stored is not None]
