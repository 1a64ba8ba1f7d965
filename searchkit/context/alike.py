"""Tells whether a text says anything that was not said before: copies, and outputs that differ in their numbers."""

import re
from collections.abc import Set

# Runs of so many words are compared: shorter ones recur in texts that have nothing to do with each other.
RUN = 5
# A text of which this share was said before is taken for a repetition.
REPEATED_SHARE = 0.8
# In scripts without spaces each character is a word.
_WORD = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]|[^\\W\\d_]+|\\d+")

Runs = Set[tuple[str, ...]]


def runs(text: str) -> Runs:
    """Return all runs of words in a text, without case, and with all numbers alike; a short text is one run."""
    words = ["0" if word.isdigit() else word for word in _WORD.findall(text.casefold())]
    last = max(0, len(words) - RUN)
    return {tuple(words[first : first + RUN]) for first in range(last + 1)}


def is_repetition(text: Runs, before: Runs) -> bool:
    """Say whether most of a text was said before."""
    return len(text & before) >= REPEATED_SHARE * len(text)
