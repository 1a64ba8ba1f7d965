"""What the keyword index, which knows words, can be asked for a pattern as people write it.

A pattern that stays inside one word is asked of it. For one that can span several, the index gives
the parts that hold its literal pieces, and `running.py` looks at those.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

import tantivy

from searchkit.text.analysis import words

# Shorter pieces are in nearly every text; of scripts without spaces, pairs are what the index holds.
_SHORTEST_PIECE, _SHORTEST_FOREIGN_PIECE = 3, 2
# Each takes a look at all words of the index, and the longest are the rarest.
_MOST_PIECES = 4
_ESCAPE = r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"
_CLASS = r"\[\^?\]?(?:\\.|[^\]\\])*\]"
_TIMES = r"\{(?:\d+,?\d*|,\d*)\}"
_ATOM = re.compile(rf"{_ESCAPE}|{_CLASS}|\(\?(?:P<\w+>|[a-zA-Z-]*[:)])|{_TIMES}|.", re.DOTALL)
# All that a pattern can consist of that matches nothing but letters and digits.
_IN_A_WORD = re.compile(
    rf"(?:[a-zA-Z0-9]|\\[wd]|\[(?:[a-z]-[a-z]|[A-Z]-[A-Z]|[0-9]-[0-9]|[a-zA-Z0-9]|\\d)+\]|\((?:\?:)?|[)|*+?]|{_TIMES})*"
)
_ANY_OF_A_NAME = rf"(?:\\w(?:[*+?]|{_TIMES})*)+"
_AT_AN_EDGE = re.compile(rf"^{_ANY_OF_A_NAME}|{_ANY_OF_A_NAME}$")
# Any match will do, so that it does not matter whether the shortest is taken.
_LAZY = re.compile(r"(?<!\\)([*+?}])\?")
# Classes of all scripts take a second to compile, and these hold the same of a term's characters.
_CLASSES = {r"\w": ".", r"\d": "[0-9]"}
# Written otherwise for Rust's engines, or of another meaning there: `\<` begins a word.
_FOR_RUST = {r"\<": "<", r"\>": ">", r"\Z": r"\z", "{": r"\{"}
_MAY_BE_ABSENT = re.compile(r"[*?]|\{0|\{,")
_MAY_REPEAT = re.compile(r"[+{]")


@lru_cache(256)
def spans_words(pattern: str) -> bool:
    """Say whether a pattern can match more than a part of one word, or is too much to be asked of the index.

    Names such as `user_id` are two words: `user\\w+id` can span them, and `user\\w+` needs no more than the first.
    """
    inner = _AT_AN_EDGE.sub("", pattern)
    return not _IN_A_WORD.fullmatch(inner) or r"\w" in inner or not _is_for_terms(for_term(pattern))


def for_term(pattern: str) -> str:
    """Return a pattern that matches the terms, which are in small letters, of words that hold what was asked for."""
    written = _LAZY.sub(r"\1", for_rust(pattern))
    return f".*({''.join(_CLASSES.get(atom, _small(atom)) for atom in atoms(written))}).*"


def for_rust(pattern: str) -> str:
    """Write what Python's engine reads for Rust's."""
    return "".join(_FOR_RUST.get(atom, atom).replace("{,", "{0,") for atom in atoms(pattern))


def atoms(pattern: str) -> list[str]:
    """Take a pattern apart into characters, escapes, classes, and signs for groups and repetition."""
    return _ATOM.findall(pattern)


def pieces(pattern: str) -> list[str]:
    """Return what the words of every match hold, the longest first; of alternatives nothing is certain."""
    runs = dict.fromkeys(piece for run in _runs(pattern) for piece in (words(run) if run else []))
    found = [run for run in runs if len(run) >= (_SHORTEST_PIECE if run.isascii() else _SHORTEST_FOREIGN_PIECE)]
    return sorted(found, key=len, reverse=True)[:_MOST_PIECES]


def _runs(pattern: str) -> Iterator[str]:
    """Yield the letters and digits that follow each other in every match."""
    known = list(_placed(pattern))
    uncertain = _uncertain(known)
    if any(atom.startswith("(?") and atom[-1] in ":)" and "x" in atom for _, atom, _ in known):
        # Of what may be a remark nothing is certain.
        return
    run = ""
    for place, atom, after in known:
        may_be_absent = _MAY_BE_ABSENT.match(after) or any(start <= place < end for start, end in uncertain)
        if len(atom) == 1 and atom.isalnum() and not may_be_absent:
            run += atom
            if not _MAY_REPEAT.match(after):
                continue
        elif atom.startswith("(") or (atom == ")" and not _MAY_REPEAT.match(after)):
            continue
        yield run
        run = ""
    yield run


def _uncertain(known: list[tuple[int, str, str]]) -> list[tuple[int, int]]:
    """Return the stretches, in parentheses or the whole, that have alternatives or may be absent."""
    opened = [0]
    divided = set[int]()
    found = []
    for place, atom, after in known:
        if atom.startswith("(") and not atom.endswith(")"):
            opened.append(place)
        elif atom == "|":
            divided.add(opened[-1])
        elif atom == ")" and len(opened) > 1:
            start = opened.pop()
            if start in divided or _MAY_BE_ABSENT.match(after):
                found.append((start, place))
    if len(opened) > 1 or 0 in divided:
        found.append((0, known[-1][0] + 1))
    return found


def _placed(pattern: str) -> Iterator[tuple[int, str, str]]:
    """Yield the atoms, where they stand, counted from one, and what comes after them."""
    for found in _ATOM.finditer(pattern):
        yield found.start() + 1, found[0], pattern[found.end() :]


def _small(atom: str) -> str:
    return re.sub(r"\\.|[^\\]+", lambda found: _SMALL.get(found[0], found[0].lower()), atom)


# Inside a class; no escape but these is in a pattern for single words.
_SMALL = {r"\d": "0-9"}


@lru_cache(256)
def _is_for_terms(pattern: str) -> bool:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text")
    try:
        tantivy.Query.regex_query(builder.build(), "text", pattern)
    except ValueError:
        return False
    return True
