"""Which language a text or a question is written in.

Scripts tell most languages apart; those that share the Latin script are told apart by small words and letters.
"""

import re
import struct
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat

from searchkit.types import Language

# Enough for a paragraph, in which some twenty small words stand.
LOOKED_AT_CHARS = 400
# Small words are a third to half of prose, and hardly any of the words of paths and logs.
LEAST_SHARE = 0.08
# A word that one language has alone, or several that only it has all of.
LEAST_VOTES = 0.9
# The first must be so many times before the second: "de" and "la" alone are of three languages.
LEAST_LEAD = 1.2
# Words of prose for each small one, to weigh prose in Latin letters against prose in others.
WORDS_FOR_A_SMALL_ONE = 2.5
# Of other scripts, enough to be more than a symbol.
LEAST_WORDS = 0.5
# Japanese has more kana than this, and Chinese hardly any.
HAN_FOR_A_KANA = 10

_Told = Mapping[Language | None, str]

# Words that stand in nearly every sentence. One of several languages counts for each by its share. Without a name
# are languages that are not told, but would be taken for their neighbours (Danish and Norwegian, Catalan, Romanian,
# Czech, Indonesian), and keywords, so that code is no English.
_SMALL_WORDS = {
    Language.ENGLISH: "the of to that that' this it it' its you you' your we we' our they they' their them are was were"
    " be been being have has had should would could can cannot will must may let' please what what' how why when where"
    " which who there there' here here' these those than then also only just but so because about after before"
    " now some any all both don' doesn' didn' can' couldn' isn' aren' wasn' haven' hasn' won' i' i'm my me need want"
    " does did make sure same still an and or not no if in is on for with from by at as without into"
    " while do out up",
    Language.FRENCH: "le la les un une des du de dans est sont avec pour que qui quoi pas ne n' ce c' cet cette ces"
    " il elle nous vous je j' on et ou où l' d' s' qu' mais sur par plus au aux si ça sa ses son mon ma mes tu te"
    " être fait faire faut peux peut dois doit comment pourquoi quand aussi très tout tous après avant sans à été"
    " ai ont avons avez votre notre leur leurs alors donc car comme même encore déjà voici peux-tu est-ce en",
    Language.GERMAN: "der die das den dem des ein eine einen einem einer und oder aber nicht ist sind war wird werden"
    " wurde hat haben kann können muss müssen soll sollte bitte ich du wir sie ihr mir mich uns es mit für von vom zu"
    " zum zur auf aus bei nach über unter vor wenn dass weil wie warum wo auch nur noch schon jetzt dann hier kein"
    " keine im in ins am an als sich so mehr alle dieser diese dieses durch ohne gibt beim",
    Language.SPANISH: "el la los las un una unos unas de del al en es está están son con para por que qué quien cómo"
    " como cuando dónde pero no se lo le les su sus mi tu si sí más muy ya hay hace hacer puede puedes debe este esta"
    " estos estas eso esto ese esa porque también sin sobre entre desde hasta donde ser era fue favor"
    " necesito ahora yo nos y",
    Language.PORTUGUESE: "o os as um uma uns umas do da dos das no na nos nas ao aos de em é está estão são com para"
    " por que não se eu você ele ela nós mas mais muito já há isso isto este esta esse essa esses essas porque também"
    " como quando onde sem sobre entre até ser foi era tem ter pode pelo pela seu sua meu minha favor preciso agora"
    " faz fazer deve qual quais à às ou",
    Language.ITALIAN: "il lo la gli le un una uno di del dello della dei degli delle dell' nel nella nei nelle nell' al"
    " alla ai alle all' dal dalla dall' sul sulla è sono con per che chi non si mi ti ci ma più anche come quando dove"
    " perché questo questa questi queste quello quella ho hai ha abbiamo hanno essere fare fatto deve può puoi devo se"
    " su tra fra l' un' c' dopo prima senza ogni tutti ora solo già molto da in",
    Language.DUTCH: "de het een en maar niet is zijn waren wordt worden heeft hebben kan kunnen moet moeten zou"
    " wil ik je jij wij ze zij hij dit dat deze die er hier daar met voor van naar op aan bij uit over onder door"
    " om te als wanneer waarom hoe wat waar ook nog al alleen geen meer dan zonder nu mijn onze alle graag in",
    Language.POLISH: "nie się jest są był było być że żeby na do od po dla przez przy jak jako tak ale czy co ten ta"
    " te tego tej tym które który która już jeszcze tylko może można trzeba proszę dlaczego gdzie kiedy gdy jeśli"
    " ze oraz lub nad pod przed bez mnie mi mam masz ma go ich jego wszystkie w z i",
    Language.SWEDISH: "och att är inte för jag från också när på som med den det en ett av till om har kan ska måste"
    " vi ni du han hon de dem var vad hur varför där här eller men så bara nu då efter innan utan alla detta denna"
    " dessa mig dig oss sig finns blir skulle vara",
    Language.TURKISH: "bir ve bu şu için ile de da ne nasıl neden var yok değil mi mı gibi daha çok en ama veya ya olan"
    " olarak olduğu sonra önce kadar her ben sen biz bunu bana göre lütfen gerekiyor ki hem ise şimdi",
    Language.VIETNAMESE: "là và của có không các cho với được này trong một những để khi đã thì tôi bạn như từ ra vào"
    " lại nên cần phải hãy vì sao nếu làm đang sẽ mà ở đó trên sau trước",
    None: "and or not no if in is on for with from by at as do while when where then into out all die son os var end"
    " i o y z"
    " og ikke jeg af er til eller men det den på som med"
    " amb els dels és però aquest aquesta ens què això també"
    " și în este pentru nu cu care sunt pe să mai după dacă"
    " že jsem není který která pro jako nebo už být jsou je při"
    " yang dan untuk dengan ini itu tidak dari pada adalah di",
}
# Letters that not all of these languages have; which of them a text has counts once, however often it has them.
_LETTERS = {
    Language.FRENCH: "éèêàçùûîôœ",
    Language.GERMAN: "äöüß",
    Language.SPANISH: "áéíóúñ¿¡",
    Language.PORTUGUESE: "áéíóúâêôãõç",
    Language.ITALIAN: "àèéìòù",
    Language.POLISH: "łąęńśźżó",
    Language.SWEDISH: "åäö",
    Language.TURKISH: "ğşıçöü",
    Language.VIETNAMESE: "đơưạảấầẩẫậắằặẹẻẽếềểễệịọốồổộớờởợụủứừửữự",
    None: "øæřěůșțőűáéíóúåöü",
}
# Languages of a script, each with letters and words by which it is told before the next; the last needs none. Serbian,
# Bulgarian and Urdu are not told, and mostly not taken for others either.
_CYRILLIC: _Told = {
    None: "ў ј љ њ ћ ђ џ ѓ ќ се че това са",
    Language.UKRAINIAN: "і ї є ґ що щоб як це та було якщо цей чи",
    Language.RUSSIAN: "",
}
_ARABIC: _Told = {None: "ٹ ڈ ڑ ں ے ہ", Language.PERSIAN: "پ چ ژ گ ک ی", Language.ARABIC: ""}
# Scripts by the first bytes of their characters' numbers, how many characters make a word, and what is written so.
_SCRIPTS: tuple[tuple[Iterable[int], float, _Told], ...] = (
    ([0x30], 2.5, {Language.JAPANESE: ""}),
    (range(0x34, 0xA0), 1.7, {Language.CHINESE: ""}),
    ([0x11, *range(0xAC, 0xD8)], 2.5, {Language.KOREAN: ""}),
    ([0x0E], 4.0, {Language.THAI: ""}),
    ([0x04], 5.5, _CYRILLIC),
    ([0x06], 5.0, _ARABIC),
    ([0x05], 5.0, {Language.HEBREW: ""}),
    ([0x09], 5.0, {Language.HINDI: ""}),
    ([0x03, 0x1F], 5.5, {Language.GREEK: ""}),
)
# Compiled where it is first used: the many ranges take some 3 ms, and English needs none of them.
_LETTERS_OF_SCRIPTS = (
    r"[\u0370-\u03ff\u0400-\u04ff\u0590-\u05ff\u0600-\u06ff\u0900-\u097f\u0e00-\u0e7f\u1100-\u11ff\u1f00-\u1fff"
    r"\u3041-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3]+"
)
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
# The last letter of scripts in which a single one stands in a formula; further on single ones are words.
_ALPHABETS = "\u1fff"


def language_of(text: str) -> Language | None:
    """Tell the language of most of the prose at the beginning of a text.

    None where it cannot be told: code, paths and output, and a few words that could be of several languages.
    A language that is not in the list may be taken for a near relative (Catalan for Spanish).
    """
    head = text[:LOOKED_AT_CHARS]
    if "`" in head:
        # What stands between backticks, one or three, is quoted.
        head = " ".join(head.split("`")[::2])
    is_ascii = head.isascii()
    if not is_ascii:
        head = unicodedata.normalize("NFC", head).replace("’", "'")
    head = head.lower()
    words = head.replace("'", "' ").split()
    said = sum(map(_OF_WORDS.get, words, _NO_VOTE))
    if not is_ascii:
        amount, told = _script(head)
        least = max(LEAST_WORDS, LEAST_SHARE * len(words))
        if amount >= least and amount > WORDS_FOR_A_SMALL_ONE * (said & _COUNT):
            return _first(told, head, words)
        said += sum(map(_OF_LETTERS.get, set(_NOT_ASCII.findall(head)), _NO_VOTE))
    return _voted(said, len(words))


def _voted(said: int, words: int) -> Language | None:
    small, *votes = _UNPACK(said.to_bytes(_BYTES, "little"))
    second, first = sorted(votes)[-2:]
    if small < LEAST_SHARE * words or first < LEAST_VOTES * _VOTE or first < LEAST_LEAD * second:
        return None
    return _VOTING[votes.index(first)]


def _script(head: str) -> tuple[float, _Told]:
    """Return how many words are written in the script, other than Latin, that most is in, and what is written so."""
    runs = re.findall(_LETTERS_OF_SCRIPTS, head)
    letters = "".join([run for run in runs if len(run) > 1 or run > _ALPHABETS])
    if not letters:
        return 0.0, {}
    scripts = letters.encode("utf-16-be")[::2].translate(_SCRIPT_OF)
    amounts = [scripts.count(number) / size for number, (_, size, _) in enumerate(_SCRIPTS)]
    if amounts[0] * HAN_FOR_A_KANA > amounts[1]:
        amounts[0] += amounts[1]
    most = max(amounts)
    return most, _SCRIPTS[amounts.index(most)][2]


def _first(told: _Told, head: str, words: Sequence[str]) -> Language | None:
    """Return the first language of which a letter or a word is there, or that needs none."""
    for language, own in told.items():
        if not own or any(one in (head if len(one) == 1 else words) for one in own.split()):
            return language
    return None


def _shares(held: Mapping[Language | None, Iterable[str]]) -> dict[str, int]:
    """Give every word the votes that it is for each language, as one number: they are added up together.

    The lowest bits count the words.
    """
    having: dict[str, list[Language | None]] = {}
    for language, several in held.items():
        for one in set(several):
            having.setdefault(one, []).append(language)
    places = {language: _BITS * place for place, language in enumerate(_VOTING, start=1)}
    return {
        one: 1 + sum([(_VOTE // len(languages)) << places[language] for language in languages])
        for one, languages in having.items()
    }


_VOTING = list(_SMALL_WORDS)
# What a word of one language counts, which can be shared by up to six of them. All words of a text are at most half
# as many as its characters, so that no sum is too large for its bits.
_VOTE = 60
_BITS = 16
_COUNT = (1 << _BITS) - 1
_BYTES = 2 * (1 + len(_VOTING))
_UNPACK = struct.Struct(f"<{1 + len(_VOTING)}H").unpack
_NO_VOTE = repeat(0)
_OF_WORDS = _shares({language: words.split() for language, words in _SMALL_WORDS.items()})
_OF_LETTERS = _shares(_LETTERS)
_SCRIPT_OF = bytes(
    next((number for number, (firsts, _, _) in enumerate(_SCRIPTS) if first in firsts), 255) for first in range(256)
)


# Which language a question is in: of a few words, often without accents, less must do than of a text.

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
    return language_of_question(question) is Language.FRENCH


def is_in_english(question: str) -> bool:
    """Say whether a question is in English, as names and numbers are that are of no language."""
    return language_of_question(question) in (Language.ENGLISH, None)


def word_count(question: str) -> int:
    """Count the words of a question, also where there are no spaces between them."""
    return len(re.findall(_WORD, question))


def language_of_question(question: str) -> Language | None:
    """Tell the language of a question; names and numbers alone are of none."""
    question = question.lower()
    if question.isascii() and _ENGLISH.search(question):
        return Language.ENGLISH
    told = language_of(_AMBIGUOUS.sub(" ", question) if question.isascii() else question)
    if told is None and (_FRENCH.search(question) or len(set(_PARTLY_FRENCH.findall(question))) >= _LEAST_PARTLY):
        return Language.FRENCH
    return told
