"""The words for times: months, weekdays, units and counts, and what French, Chinese and Korean say for them.

Of those languages only the commonest sayings are known; `to_english` leaves everything else as it is.
"""

import re


def _numbered(names: str, first: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


_ENGLISH_MONTHS = "january february march april may june july august september october november december"
_FRENCH_MONTHS = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
LONG_MONTHS = _numbered(_ENGLISH_MONTHS, 1) | _numbered(_FRENCH_MONTHS, 1)
SHORT_MONTHS = _numbered("jan feb mar apr may jun jul aug sep oct nov dec", 1) | {"sept": 9}
# The months whose English names mean nothing else: the others are verbs or the names of people, too.
CLEAR_MONTHS = ("january", "february", "july", "september", "october", "november", "december")

LONG_WEEKDAYS = {
    **_numbered("monday tuesday wednesday thursday friday saturday sunday", 0),
    **_numbered("lundi mardi mercredi jeudi vendredi samedi dimanche", 0),
}
SHORT_WEEKDAYS = _numbered("mon tue wed thu fri sat sun", 0)

NUMBERS = {
    **dict.fromkeys(("a", "an", "un", "une"), 1),
    **_numbered("one two three four five six seven eight nine ten eleven twelve", 1),
    **_numbered("deux trois quatre cinq six sept huit neuf dix", 2),
    **_numbered("一 二 三 四 五 六 七 八 九 十", 1),
    "两": 2,
}

_UNIT_NAMES = {
    "minute": "min mins minute minutes",
    "hour": "h hr hrs hour hours",
    "day": "d day days",
    "week": "w wk wks week weeks",
    "month": "m mo month months",
    "year": "y yr yrs year years",
}
UNITS = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split()}

# English for what is left of it, in the letters of French and English. Earlier lines win: "avant-hier" holds "hier".
_LATIN = (
    (r"\bil y a (\w+) minutes?\b", r"\1 minutes ago"),
    (r"\bil y a (\w+) heures?\b", r"\1 hours ago"),
    (r"\bil y a (\w+) jours?\b", r"\1 days ago"),
    (r"\bil y a (\w+) semaines?\b", r"\1 weeks ago"),
    (r"\bil y a (\w+) mois\b", r"\1 months ago"),
    (r"\bil y a (\w+) (?:ans?|ann[eé]es?)\b", r"\1 years ago"),
    (r"\bavant[- ]hier\b", "day before yesterday"),
    (r"\b(?:hier|last (?:night|evening))\b", "yesterday"),
    (r"\b(?:aujourd'hui|tonight|this (?:morning|afternoon|evening))\b", "today"),
    (r"\bdemain\b", "tomorrow"),
    (r"\bcette semaine\b", "this week"),
    (r"\bce mois(?:[- ]ci)?\b", "this month"),
    (r"\bcette ann[eé]e\b", "this year"),
    (r"\b(?:la )?semaine (?:derni[eè]re|pass[eé]e)\b", "last week"),
    (r"\b(?:le )?mois (?:dernier|pass[eé])\b", "last month"),
    (r"\b(?:l')?(?:an|ann[eé]e) (?:derni(?:er|[eè]re)|pass[eé]e?)\b", "last year"),
    (r"\b(\w+) dernier\b", r"last \1"),
    (r"\bprevious (week|month|year)\b", r"last \1"),
    (r"\bpast (day|week|month|year)\b", r"last one \1"),
    (r"\bpast (\w+ (?:days|weeks|months|years))\b", r"last \1"),
)
_HAN_COUNT = "([0-9]{1,4}|[一两二三四五六七八九十])"
# The same for Chinese and Korean. Blanks keep the English apart from words that none separates.
_ASIAN = (
    (rf"{_HAN_COUNT} ?(?:分钟[之以]?前|분 ?전)", r" \1 minutes ago "),
    (rf"{_HAN_COUNT} ?(?:个?小时[之以]?前|시간 ?전)", r" \1 hours ago "),
    (rf"{_HAN_COUNT} ?(?:天[之以]?前|일 ?전)", r" \1 days ago "),
    (rf"{_HAN_COUNT} ?(?:(?:周|个?星期)[之以]?前|주일? ?전)", r" \1 weeks ago "),
    (rf"{_HAN_COUNT} ?(?:个月[之以]?前|(?:개월|달) ?전)", r" \1 months ago "),
    (rf"{_HAN_COUNT} ?(?:年[之以]?前|년 ?전)", r" \1 years ago "),
    ("前天|그저께|그제", " day before yesterday "),
    ("昨天|어제", " yesterday "),
    ("今天|오늘", " today "),
    ("明天|내일", " tomorrow "),
    ("这个?(?:周|星期)|本周|이번 ?주", " this week "),
    ("这个月|本月|이번 ?달", " this month "),
    ("今年|올해", " this year "),
    ("上个?(?:周|星期)|지난 ?주", " last week "),
    ("上个?月|지난 ?달", " last month "),
    ("去年|작년", " last year "),
    ("([0-9]{4})[年년] ?([0-9]{1,2})[月월] ?([0-9]{1,2})[日号일]", r" \1-\2-\3 "),
    ("([0-9]{4})[年년] ?([0-9]{1,2})[月월]", r" in \1-\2 "),
    ("(?<![0-9])([0-9]{1,2})[月월] ?([0-9]{1,2})[日号일]", r" on month \1 day \2 "),
    ("(?<![0-9])([0-9]{1,2})[月월]", r" in month \1 "),
)


def to_english(text: str) -> str:
    """Put what a text says of times into English, and its white space into single blanks."""
    for pattern, english in _LATIN if text.isascii() else _LATIN + _ASIAN:
        text = re.sub(pattern, english, text, flags=re.IGNORECASE)
    return " ".join(text.split())
