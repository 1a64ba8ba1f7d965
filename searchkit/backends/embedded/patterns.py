"""Patterns as people write them, put so that they can be matched against terms, or marked in texts.

A term is one word: small letters and figures, nothing else. So `\\w` is any character of it, where it
begins and ends is where the word does, and a pattern with blanks is several patterns.
"""

import re
from collections.abc import Set

# Signs behind a backslash, and whole sets, are read as one; all else is read letter by letter.
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|.", re.DOTALL)
_BLANKS = frozenset({" ", r"\s", r"\W", "[ ]"})
_REPEATED = re.compile(r"(?:[+*?]|\{\d+,?\d*\})\??")
_BEGINNING = re.compile(r"(?:\^|\\b|\\A)+")
_END = re.compile(r"(?<!\\)(?:\$|\\b|\\Z)+$")
# Any match will do, so that it does not matter whether the shortest is taken.
_LAZY = re.compile(r"(?<!\\)([*+?}])\?")
# Classes of all scripts take a second to compile, and these hold the same of a term's characters.
_CLASSES = {r"\w": ".", r"\S": ".", r"\d": "[0-9]", r"\D": "[^0-9]"}


def for_terms(pattern: str) -> list[str]:
    """Return a pattern for each word that the pattern asks for, which must match a term from end to end."""
    alternatives = _apart(pattern, {"|"})
    if len(alternatives) > 1:
        return ["|".join(map(_for_term, alternatives))]
    first, *others = _apart(pattern, _BLANKS)
    words = [first, *(other[_repetition(other) :] for other in others)]
    return [_for_term(word) for word in words if word] or [_for_term(pattern)]


def for_text(pattern: str) -> str:
    """Return a pattern that matches in a text what the others match in its terms, whatever the case."""
    return "(?i)" + "|".join(map(_for_words, _apart(pattern, {"|"})))


def _apart(pattern: str, separators: Set[str]) -> list[str]:
    """Take a pattern apart where one of these stands outside of parentheses."""
    found, depth = [""], 0
    for piece in _PIECE.findall(pattern):
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if piece in separators and not depth:
            found.append("")
        else:
            found[-1] += piece
    return found


def _repetition(pattern: str) -> int:
    """Return how much of a pattern says how often what stood before it comes."""
    found = _REPEATED.match(pattern)
    return found.end() if found else 0


def _for_term(pattern: str) -> str:
    begun, bare, ended = _anchored(pattern)
    written = "".join(map(_for_small_letters, _PIECE.findall(_LAZY.sub(r"\1", bare))))
    return f"{'' if begun else '.*'}({written}){'' if ended else '.*'}"


def _for_words(pattern: str) -> str:
    begun, bare, ended = _anchored(pattern)
    before, after = (r"\b" if is_anchored else "" for is_anchored in (begun, ended))
    return f"{before}(?:{bare}){after}"


def _anchored(pattern: str) -> tuple[bool, str, bool]:
    """Take off what says that a word begins or ends there."""
    begun, ended = _BEGINNING.match(pattern), _END.search(pattern)
    bare = pattern[begun.end() if begun else 0 : ended.start() if ended else len(pattern)]
    return (begun is not None, bare, ended is not None) if bare else (False, pattern, False)


def _for_small_letters(piece: str) -> str:
    if not piece.startswith("["):
        return _CLASSES.get(piece, piece) if piece.startswith("\\") else piece.lower()
    if piece.startswith("[^"):
        return _small(piece.replace(r"\w", "a-z0-9").replace(r"\d", "0-9"))
    return "." if r"\w" in piece or r"\S" in piece else _small(piece.replace(r"\d", "0-9"))


def _small(pieces: str) -> str:
    return re.sub(r"\\.|[^\\]+", lambda piece: piece[0] if piece[0][0] == "\\" else piece[0].lower(), pieces)
