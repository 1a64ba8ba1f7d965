"""Packs what another agent should know into a budget of tokens, of which it never takes more."""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from searchkit.backends.base import Backend, Stored
from searchkit.context import markdown
from searchkit.context.budget import LEAST_SIZE, allot
from searchkit.context.excerpt import MOST_BESIDE, SHARE_AROUND, excerpt, nearest, unfolded, whole
from searchkit.context.select import choose
from searchkit.context.types import Candidate, Excerpt, Pack
from searchkit.errors import TooFewTokens
from searchkit.query.types import Query
from searchkit.search.types import Answer
from searchkit.sources.tools import changes_files
from searchkit.text import tokens
from searchkit.types import Kind

# Passages are tried up to so many characters for each token there is room for; prose has four.
MOST_CHARACTERS = 10
# Steps are unfolded while more than this share of the budget is left: a guess, in less there is room for few.
WORTH_UNFOLDING = 0.05


def pack(backend: Backend, answer: Answer, max_tokens: int) -> Pack:
    """Quote the best passages, as many and as much of each as the budget holds, and what was done around them."""
    empty = Pack(answer=answer, max_tokens=max_tokens)
    candidates = choose(backend, answer)
    if not candidates:
        return empty
    room = max_tokens - tokens.count(markdown.markdown(empty))
    wholes = [min(whole(candidate), max(LEAST_SIZE, room * MOST_CHARACTERS)) for candidate in candidates]

    @cache
    def cost(number: int, size: int) -> int:
        return _cost(excerpt(candidates[number], number + 1, size))

    sizes = allot(cost, wholes, room)
    if not any(sizes):
        raise TooFewTokens(max_tokens, max_tokens - room + cost(0, LEAST_SIZE))
    quoted = [(candidate, size) for candidate, size in zip(candidates, sizes, strict=True) if size]
    packed = Pack(answer=answer, max_tokens=max_tokens, excerpts=list(_deepened(backend, answer.query, quoted, room)))
    return msgspec.structs.replace(packed, tokens=tokens.count(markdown.markdown(packed)))


def _deepened(backend: Backend, query: Query, quoted: Sequence[tuple[Candidate, int]], room: int) -> Iterator[Excerpt]:
    """Quote each passage at its size and, with what room is left, the steps next to it, the first passages first."""
    excerpts = [excerpt(candidate, number, size) for number, (candidate, size) in enumerate(quoted, 1)]
    left = room - sum(map(_cost, excerpts))
    for one, (candidate, size) in zip(excerpts, quoted, strict=True):
        best, spent = one, _cost(one)
        keys = nearest(candidate) if left > WORTH_UNFOLDING * room else []
        for key, stored, marks in _related(backend, query, keys):
            deeper = unfolded(candidate, {key: stored}, {stored.id: marks})
            tried = excerpt(deeper, one.number, max(size, int(MOST_BESIDE / SHARE_AROUND)))
            if (cost := _cost(tried)) <= spent + left:
                candidate, best, left, spent = deeper, tried, left - (cost - spent), cost
        yield best


def _related(
    backend: Backend, query: Query, keys: Sequence[int]
) -> list[tuple[int, Stored, Sequence[tuple[int, int]]]]:
    """Fetch texts and changes of files among steps, and what holds a word that was asked for, a call with its result.

    Room that is left is no reason to quote anything else.
    """
    read = [(key, stored) for key, stored in zip(keys, backend.catalog.stored(keys), strict=True) if stored]
    found = [(key, stored, backend.words.highlight(query, stored.part.text)) for key, stored in read]
    calls = {stored.part.call for _, stored, marks in found if marks} - {None}
    return [
        (key, stored, marks)
        for key, stored, marks in found
        if marks or stored.part.call in calls or _says_what_was_done(stored)
    ]


def _says_what_was_done(stored: Stored) -> bool:
    kind, tool = stored.part.kind, stored.part.tool
    return kind is Kind.TEXT or (kind is Kind.TOOL_CALL and changes_files(tool))


def _cost(one: Excerpt) -> int:
    """Count an excerpt as if its transcript were gone, so that it is the same before and after."""
    gone = msgspec.structs.replace(one.session, is_gone=True) if one.session else None
    return tokens.count("\n\n" + markdown.excerpt(msgspec.structs.replace(one, session=gone)))
