"""Packs what another agent should know into a budget of tokens, of which it never takes more."""

from functools import cache

import msgspec

from searchkit.backends.base import Backend
from searchkit.context import markdown
from searchkit.context.budget import LEAST_SIZE, allot
from searchkit.context.excerpt import excerpt, whole
from searchkit.context.select import choose, is_sure
from searchkit.context.types import Excerpt, Pack
from searchkit.errors import TooFewTokens
from searchkit.search.types import Answer
from searchkit.text import tokens

# Passages are tried up to so many characters for each token there is room for; prose has four.
MOST_CHARACTERS = 10
# And where nothing is sure to answer, up to so many, which leaves no room for what stands beside them.
UNSURE_SIZE = 300
# And of the budget they may take this share.
UNSURE_SHARE = 0.5


def pack(backend: Backend, answer: Answer, max_tokens: int) -> Pack:
    """Quote the best passages, as many and as much of each as the budget holds, and say what was done around them.

    Where nothing is sure to answer, a few of the nearest passages are quoted shortly; where nothing is near, none.
    """
    candidates = choose(backend, answer)
    if not candidates:
        return Pack(answer=msgspec.structs.replace(answer, results=()), max_tokens=max_tokens, is_sure=False)
    empty = Pack(answer=answer, max_tokens=max_tokens, is_sure=is_sure(answer))
    whole_room = room = max_tokens - tokens.count(markdown.markdown(empty))
    most = max(LEAST_SIZE, room * MOST_CHARACTERS) if empty.is_sure else UNSURE_SIZE
    wholes = [min(whole(candidate), most) for candidate in candidates]

    @cache
    def cost(number: int, size: int) -> int:
        return _cost(excerpt(candidates[number], number + 1, size))

    if not empty.is_sure:
        room = max(int(room * UNSURE_SHARE), min(room, cost(0, LEAST_SIZE)))
    sizes = allot(cost, wholes, room)
    if not any(sizes):
        raise TooFewTokens(max_tokens, max_tokens - whole_room + cost(0, LEAST_SIZE))
    quoted = [(candidate, size) for candidate, size in zip(candidates, sizes, strict=True) if size]
    excerpts = [excerpt(candidate, number, size) for number, (candidate, size) in enumerate(quoted, 1)]
    packed = msgspec.structs.replace(empty, excerpts=excerpts)
    return msgspec.structs.replace(packed, tokens=tokens.count(markdown.markdown(packed)))


def _cost(one: Excerpt) -> int:
    """Count an excerpt as if its transcript were gone, so that it is the same before and after."""
    gone = msgspec.structs.replace(one.session, is_gone=True) if one.session else None
    return tokens.count("\n\n" + markdown.excerpt(msgspec.structs.replace(one, session=gone)))
