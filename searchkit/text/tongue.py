"""Which language a question is in: of a few words, often without accents, less must do than of a text."""

import re

from searchkit.text.language import language_of
from searchkit.types import Language

# In a question of three words one of these is as likely an English word, or the name of something.
_AMBIGUOUS = re.compile(r"\b(?:ai|car|comment|des|est|fait|ma|pas|plus|pour|sans|son|sur|tout|tu)\b")
# Where one of these stands, a question is in English, though it may hold a word that is a small one elsewhere.
_ENGLISH = re.compile(r"\b(?:and|the|for|with|from|what|why|how|when|which|where|did|does|this|that|our|not|by|its)\b")
# Where nothing speaks for another language, these speak for French: `l'import`, `périmé`, a word that others hardly
# have, or two that they have, too.
_FRENCH = re.compile(
    r"\b(?:[cdjlmns]|qu)['’]\w|[éèêëàâçùûîïôœ]"
    r"|\b(?:apres|aux|avec|cette|chez|dans|les|pourquoi|quand|quelle?s?|quoi|sont|une)\b"
)
_PARTLY_FRENCH = re.compile(r"\b(?:au|comment|de|des|du|en|est|et|la|le|ou|par|pas|pour|sans|sur|un)\b")
_LEAST_PARTLY = 2
# Two characters of Chinese, Japanese or Korean are about a word; a path is one, too. Compiled where it is first used:
# the many ranges take some 5 ms, and a search for words does not count them.
_WORD = "[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,2}|[^\\s\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]+"


def is_in_french(question: str) -> bool:
    """Say whether a question is in French."""
    return _tongue(question) is Language.FRENCH


def is_in_english(question: str) -> bool:
    """Say whether a question is in English, as names and numbers are that are of no language."""
    return _tongue(question) in (Language.ENGLISH, None)


def word_count(question: str) -> int:
    """Count the words of a question, also where there are no spaces between them."""
    return len(re.findall(_WORD, question))


def _tongue(question: str) -> Language | None:
    question = question.lower()
    if question.isascii() and _ENGLISH.search(question):
        return Language.ENGLISH
    told = language_of(_AMBIGUOUS.sub(" ", question) if question.isascii() else question)
    if told is None and (_FRENCH.search(question) or len(set(_PARTLY_FRENCH.findall(question))) >= _LEAST_PARTLY):
        return Language.FRENCH
    return told
