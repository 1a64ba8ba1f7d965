"""Patterns that span several words: which words a text must hold to match, and whether it does.

The keyword index knows words, so a pattern inside one word is asked of it. For one that spans
several, the index gives the parts that hold its literal pieces, and those are looked at.
"""

import re
from collections.abc import Iterator, Sequence

import tantivy

from searchkit.questions import Clause, Match, Query, Term

# What is looked at for one question, the best first: a second's work at the most.
MOST_LOOKED_AT = 2_000
# Shorter pieces are in nearly every text.
_SHORTEST_PIECE = 3
# What ends a word: any character, white space, and signs that are no word's. Signs of repetition are not among them.
_BEYOND_A_WORD = re.compile(r"\\[sSWbBn]|\\[^\w\s]|(?<!\\)[.^$]|[\s\"#%&',/:;<=>@_`~!-]|\[\^")
_ATOM = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?[:=!<P][^)]*>?)?|.", re.DOTALL)
# Any match will do, so that it does not matter whether the shortest is taken.
_LAZY = re.compile(r"(?<!\\)([*+?}])\?")
# Classes of all scripts take a second to compile, and these hold the same of a term's characters.
_CLASSES = {r"\w": ".", r"\d": "[0-9]", r"\D": "[^0-9]"}
_MAY_BE_ABSENT = re.compile(r"[*?]|\{0|\{,")


def spans_words(pattern: str) -> bool:
    """Say whether a pattern can match more than a part of one word."""
    return bool(_BEYOND_A_WORD.search(re.sub(r"\[(?!\^)(?:\\.|[^\]\\])*\]", "", pattern)))


def for_term(pattern: str) -> str:
    """Return a pattern that matches the terms, which are in small letters, of words that hold what was asked for."""
    written = "".join(_for_small_letters(atom[0]) for atom in _ATOM.finditer(_LAZY.sub(r"\1", pattern)))
    return f".*({written}).*"


def pieces(pattern: str) -> list[str]:
    """Return letters and digits that every match holds, in small letters; of alternatives nothing is certain."""
    if "|" in pattern or "(?" in pattern:
        return []
    found, run = [], ""
    depth_of_optional = _optional_groups(pattern)
    for start, atom, after in _atoms(pattern):
        is_certain = not _MAY_BE_ABSENT.match(after) and not any(a <= start < b for a, b in depth_of_optional)
        if len(atom) == 1 and atom.isalnum() and is_certain:
            run += atom.lower()
            if not re.match(r"[+{]", after):
                continue
        elif len(atom) == 1 and atom in "()+":
            continue
        found.append(run)
        run = ""
    return [piece for piece in (*found, run) if len(piece) >= _SHORTEST_PIECE]


def matches(pattern: str, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a pattern matches; Tantivy's engine takes time in proportion to the text whatever the pattern is."""
    try:
        analyzer = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(f"(?im){pattern}")).build()
    except ValueError:
        return
    for token in analyzer.pre_tokenize(text).tokens:
        yield token.char_offset_from, token.char_offset_to


def all_match(patterns: Sequence[str], text: str) -> bool:
    """Say whether every one of several patterns matches somewhere in a text."""
    return all(next(matches(pattern, text), None) is not None for pattern in patterns)


def unproved(query: Query) -> list[Clause]:
    """Return the clauses of which the index only knows pieces; where a word would do as well, it is believed."""
    return [clause for clause in query.clauses if all(map(_spans, clause.terms))]


def are_met(clauses: Sequence[Clause], text: str) -> bool:
    """Say whether a text matches one of the patterns of each clause, or none where it excludes."""
    return all(clause.is_excluded != any(all_match([term.text], text) for term in clause.terms) for clause in clauses)


def _spans(term: Term) -> bool:
    return term.match is Match.REGEX and spans_words(term.text)


def _for_small_letters(atom: str) -> str:
    if atom.startswith("["):
        return "." if r"\w" in atom or r"\S" in atom else re.sub(r"\\d|\\.|[^\\]+", _small, atom)
    return _CLASSES.get(atom, atom) if atom.startswith("\\") else atom.lower()


def _small(found: re.Match[str]) -> str:
    return {r"\d": "0-9"}.get(found[0]) or (found[0] if found[0].startswith("\\") else found[0].lower())


def _atoms(pattern: str) -> Iterator[tuple[int, str, str]]:
    for found in _ATOM.finditer(pattern):
        yield found.start(), found[0], pattern[found.end() :]


def _optional_groups(pattern: str) -> list[tuple[int, int]]:
    """Return the stretches in parentheses that may be absent."""
    opened: list[int] = []
    optional = []
    for start, atom, after in _atoms(pattern):
        if atom.startswith("("):
            opened.append(start)
        elif atom == ")" and opened:
            begin = opened.pop()
            if _MAY_BE_ABSENT.match(after):
                optional.append((begin, start))
    return optional
