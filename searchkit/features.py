"""What kind of saying a text is: one that narrates says little, one that concludes says what was wanted."""

import re

from searchkit.types import Kind

# Measured over real transcripts: with these, 82 instead of 76 of 100 questions were answered in the first ten.
SHORT = 0.9
NARRATION = 0.8
CONCLUSION = 1.1
SHORT_CHARACTERS = 200

_SAID = frozenset({Kind.TEXT, Kind.THINKING})
# "Let me check ...", "Now I'll ...": 63 % of all short texts. After a word or two of agreement, if any.
_NARRATING = re.compile(
    r"(?:(?:ok(?:ay)?|good|great|perfect|excellent|alright|now)[,.!:]?\s+)*"
    r"(?:now\s+)?(?:let me|let's|let us|i'll|i will|i need to|i'm going to|now i|now let|first,? i|next,? i)\b",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(
    r"root cause|\bfixed\b|\bbecause\b|turns out|instead of|\bcaused by\b|\bdue to\b|\bresolved\b|\bsolution\b"
    r"|the (?:issue|problem|bug|reason|cause|culprit) (?:is|was)|now works|works now|\bdecided\b|\bconclusion\b",
    re.IGNORECASE,
)


def feature(kind: Kind, text: str) -> float:
    """Return what the meaning of a text counts times."""
    if kind not in _SAID:
        return 1.0
    length = SHORT if len(text) < SHORT_CHARACTERS else 1.0
    if _NARRATING.match(text.lstrip()):
        return length * NARRATION
    return length * CONCLUSION if _CONCLUDING.search(text) else length
