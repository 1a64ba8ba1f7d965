"""Which parts of a session only repeat others: a pure function over all of its secondary parts."""

from collections.abc import Iterable
from enum import IntEnum, StrEnum

import msgspec

from searchkit.backends.base import EMBEDDING, MULTILINGUAL
from searchkit.types import Kind, Language, Standing


class Candidate(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """As much of a part as deciding needs; `order` is its place in its file."""

    key: int
    id: str
    digest: int
    standing: Standing
    time: int | None
    call: str | None
    order: tuple[str, int]


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """Which parts repeat which, and which stand-ins are no longer needed, by key."""

    repeats: dict[int, int]
    dropped: set[int]


def judge(parts: Iterable[Candidate], answered: Iterable[str]) -> Verdict:
    """Decide over the parts of one session; `answered` are the calls whose real result is known.

    Of equal texts the one of lowest standing stays, then the earliest, then the first by id:
    never which was read first, so that any order of reading ends the same.
    """
    answered = set(answered)
    kept: dict[int, Candidate] = {}
    newest: dict[str, Candidate] = {}
    dropped: set[int] = set()
    rest = []
    for part in parts:
        if part.standing is not Standing.STAND_IN:
            rest.append(part)
        elif part.call in answered:
            dropped.add(part.key)
        elif part.call is None:
            rest.append(part)
        else:
            other = newest.get(part.call)
            newest[part.call] = part if other is None else max(part, other, key=_age)
            if other is not None:
                dropped.add(min(part, other, key=_age).key)
    repeats: dict[int, int] = {}
    for part in sorted((*rest, *newest.values()), key=_preference):
        first = kept.setdefault(part.digest, part)
        if first is part or part.standing is Standing.ORIGINAL:
            continue
        if part.standing is Standing.STAND_IN:
            dropped.add(part.key)
        else:
            repeats[part.key] = first.key
    return Verdict(repeats=repeats, dropped=dropped)


def _preference(part: Candidate) -> tuple[int, bool, int, str]:
    return part.standing, part.time is None, part.time or 0, part.id


def _age(part: Candidate) -> tuple[int, tuple[str, int], str]:
    """Order what stands in for one result; two texts of one record are told apart by their ids."""
    return part.time or 0, part.order, part.id


# Which parts get a vector, and which of them first: what carries most of the ranking.
#
# Prompts, summaries, the last text of each turn, and texts and thinking that are not short are 37 % of what there is,
# and with their vectors alone 84 of 100 questions are answered in the first ten. Calls come next. Of what tools print
# only errors have a vector, and of what the system says the words are enough. On 100 questions over real transcripts
# MRR rose from 70.7 to 72.2 with the vectors of errors, which are 3 % of all.
#
# A text that is not short has a second vector, of the prompt that it answers and its own beginning: MRR rose from
# 69.4 to 72.2, and hit@1 from 61 to 63. Vectors of further pieces of 700 characters, of all texts or only of those
# that end a turn, added nothing (MRR 71.3 to 71.5), and would cost half as much again.


class Worth(IntEnum):
    """What a vector is worth, the most valuable first."""

    CARRYING = 1
    CALL = 2
    SHORT = 3


# In bytes, so that nobody need read a text to know: 200 characters of English, and as much said in fewer of Chinese.
LONG_BYTES = 200
CARRYING = frozenset({Kind.PROMPT, Kind.SUMMARY, Kind.PLAN, Kind.MEMORY})
# Most of these only say what is done next ("Let me check ..."); the long ones reason and conclude.
BY_LENGTH = frozenset({Kind.TEXT, Kind.THINKING})
# What has a multilingual vector in any language. Short texts take little time, and many a question has a short answer.
SAID = CARRYING | BY_LENGTH
SHORT = frozenset({Kind.TITLE, Kind.COMMAND})
WORTHY = CARRYING | BY_LENGTH | SHORT | {Kind.TOOL_CALL}
# What tools print has a vector where it is an error.
WORTHY_ERRORS = Kind.TOOL_RESULT
# The piece that holds the prompt and what answers it; piece 0 is the text itself.
EXCHANGE_PIECE = 1
EXCHANGE_KIND = Kind.TEXT


class Space(StrEnum):
    """Whose vectors: of the model that was chosen, or of the multilingual one. By this name the index remembers it."""

    CHOSEN = EMBEDDING
    MULTILINGUAL = MULTILINGUAL


# Where at least this share of the parts is in other languages than English, questions in those are asked about English
# texts, too, so that what was said has a multilingual vector whatever its language. Below, nothing has one, and the
# model is never loaded: in the histories of four people who write English one part of a thousand was taken for another
# language.
LEAST_OTHER_SHARE = 0.005


def is_other(language: Language | None) -> bool:
    """Say whether a text is in a language of which the default model knows little."""
    return language not in (None, Language.ENGLISH)


def is_mixed(others: int, parts: int) -> bool:
    """Say whether so many of the parts in other languages make a history one of several languages."""
    return 0 < others >= LEAST_OTHER_SHARE * parts


def is_multilingual(kind: Kind, language: Language | None, is_mixed: bool) -> bool:
    """Say whether a part that has a vector has one of the multilingual model as well."""
    return is_mixed and (is_other(language) or kind in SAID)


def pieces(kind: Kind, length: int) -> int:
    """Say how many vectors a part has, by its length in bytes."""
    return 2 if kind is EXCHANGE_KIND and length >= LONG_BYTES else 1


def worth(kind: Kind, length: int, is_last: bool, is_error: bool = False) -> Worth | None:
    """Say what the vectors of a part are worth by its length in bytes, and None where it has none."""
    if kind is WORTHY_ERRORS and is_error:
        return Worth.CARRYING
    if kind not in WORTHY:
        return None
    if kind in CARRYING or (kind in BY_LENGTH and (length >= LONG_BYTES or is_last)):
        return Worth.CARRYING
    return Worth.CALL if kind is Kind.TOOL_CALL else Worth.SHORT
