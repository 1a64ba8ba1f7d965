"""Counts tokens as a language model would, a little generously; it needs no network.

No model's own tokenizer can be had offline for every model, so words are counted with the WordPiece
tokenizer that the embedding model brings along, and the rest by what it costs in byte-pair encodings.
WordPiece alone would see no white space, no capitals, and one token in whatever it does not know.

The weights were fitted so that a text counts at least what the dearest of three encodings makes of
it: o200k and cl100k of OpenAI, and the one that Anthropic published for Claude 2; newer ones of
Anthropic are not public. What is counted here, as a multiple of the dearest and of o200k:

    prose 1.15, 1.21 · what was said 1.22, 1.35 · tool output 1.23, 1.34 · Python 1.37, 1.49
    JSON 1.31, 1.45 · hexadecimal 1.40, 1.43 · Chinese letters 1.19, 1.62 · Korean letters 1.10, 2.05

Of 40 stretches of 2,000 characters of each, the least was 1.05 of the dearest, in tool output and Korean.
Less came of traditional Chinese (0.9 of cl100k, 1.3 of o200k), accented letters out of their words (0.8), and
random characters of rare scripts (0.96).
WordPiece as it is comes to 0.93 in tool output, and to one token for 6,400 hexadecimal digits in a row.
"""

import re
from functools import cache, lru_cache
from math import ceil
from typing import TYPE_CHECKING

from searchkit.config import DEFAULT_PACKAGE, model_directory

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# What `--json` calls this way of counting, and the one without the tokenizer; other weights need another name.
NAME = "wordpiece-1"
NAME_BY_LETTERS = "letters-1"
_PACKAGE = DEFAULT_PACKAGE

# WordPiece gives up on words of more than 100 characters, so longer ones are counted in pieces.
_WORD = re.compile(r"[A-Za-z0-9]{1,48}")
_PER_PIECE = 1.15
# Where the tokenizer is not installed, a piece has so many letters: fewer than in nearly any word, and fewer still in
# what is no word (digits, base64), so that a budget is never taken too far, though a part of it is left.
_PLAIN = re.compile(r"[A-Z]?[a-z]{1,15}")
_LETTERS_PER_PIECE, _SIGNS_PER_PIECE = 2, 1.25
# Scripts and signs beyond ASCII, and what a character of them costs: less than its bytes, for they are known.
_SCRIPTS = {
    "\u0400-\u04ff": 0.7,
    "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef": 1.3,
    "\uac00-\ud7a3": 1.5,
    "\u0080-\u03ff\u0500-\u07ff": 1.5,
    # Dashes, quotation marks, arrows.
    "\u2010-\u203a\u2190-\u21ff": 1.5,
}
# The lines of tables come in runs.
_LINES = "\u2500-\u259f"
_WEIGHTS = [
    # Signs often join each other or the next word.
    (re.compile(r"[!-/:-@\[-`{-~]"), 0.8),
    # WordPiece folds capitals; encodings know fewer words in them.
    (re.compile(r"[A-Z]"), 0.2),
    (re.compile(r"\n"), 0.5),
    (re.compile(r"\n+"), 0.6),
    # Indentation and columns.
    (re.compile(r"[ \t]{2,64}"), 1.0),
    (re.compile(f"[{_LINES}]{{1,3}}"), 2.0),
    *((re.compile(f"[{characters}]"), weight) for characters, weight in _SCRIPTS.items()),
]
# No encoding makes more of a character than its bytes.
_OTHERS = re.compile(f"[^\\t\\n -~{_LINES}{''.join(_SCRIPTS)}]+")


def count(text: str) -> int:
    """Count the tokens of a text; texts that are joined by line ends count no more than they do apart."""
    words = sum(map(_pieces, _WORD.findall(text))) * _PER_PIECE
    others = sum(len(found.encode(errors="replace")) for found in _OTHERS.findall(text))
    return ceil(words + others + sum(len(pattern.findall(text)) * weight for pattern, weight in _WEIGHTS))


def name() -> str:
    """Return what this way of counting is called."""
    return NAME if _tokenizer() else NAME_BY_LETTERS


@lru_cache(maxsize=1 << 16)
def _pieces(word: str) -> int:
    tokenizer = _tokenizer()
    if tokenizer is None:
        return ceil(len(word) / (_LETTERS_PER_PIECE if _PLAIN.fullmatch(word) else _SIGNS_PER_PIECE))
    return len(tokenizer.encode(word, add_special_tokens=False).ids)


@cache
def _tokenizer() -> "Tokenizer | None":
    """Load the tokenizer of the default model, if it is there."""
    # 30 ms, and nothing but counting needs it.
    from tokenizers import Tokenizer

    directory = model_directory(_PACKAGE)
    if directory is None or not (file := directory / "tokenizer.json").is_file():
        return None
    tokenizer = Tokenizer.from_file(str(file))
    # The file asks for texts cut and filled up to one length, as the model wants them.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
