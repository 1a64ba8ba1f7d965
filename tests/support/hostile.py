"""A thousand questions that nobody should ask, the same every time."""

import os
import random
from collections.abc import Iterator

OPERATORS = """
" '' “ ” „ « » 「 ( ) [ ] { } < > + - -- ++ OR AND NOT | || && ! ^ ~ * ? : :: / // \\ -" +" "- OR" title: kind: -kind:
is: after: before:x on:31.31 on:"" project:"" -project:x session:* file:// tool:__ agent:- kind:prompt,, role:,,
kind:text -kind:text after:9999-12-31 before:0001-01-01 on:yesterday "a b" -"a b" +"a b" lan* l* ** *x lantern~ ~~ x~
/a+/ /[/ /(/ /)/ -/a+/ /./ /.*/ /\\/
""".split()
ODD_WORDS = [
    "lantern",
    "\u202eevil\u202c",
    "\u2066x\u2069",
    "a\u0301\u0301\u0301",
    "\u200b",
    "\ufeff",
    "\x1b[31mred",
    "\x9b31m",
    "nul\0nul",
    "\x07\x08\x7f",
    "🎉",
    "👩‍👩‍👧‍👦",
    "🇫🇷",
    "中",
    "中文",
    "한국어",
    "ภาษา",
    "עברית",
    "عربى",
    "ǅ",
    "İ",
    "ß",
    "ﬁ",
    "Ω",
    "\U0001d518",
    "\U000e0001",
    "\uffff",
    "%s%n%x",
    "{0.__class__}",
    "${jndi:ldap://x}",
    "$(rm -rf)",
    "`id`",
    "\ud83d",
    "'; DROP TABLE parts; --",
    "1' OR '1'='1",
    "%00",
    "../../etc/passwd",
    "\\x41",
    "a" * 300,
    "中" * 300,
]
PATTERNS = r"""
/(a+)+$/ /(.*a){30}/ /((a{1,100}){1,100}){1,100}/ /a{99999}/ /a{1000}{1000}/ /(a|a)*b/ /(a|aa)+$/ /([a-z]+)*x/
/(x+x+)+y/ /\w+\w+\w+/ /(?:a?){50}a{50}/ /.{1,500}/ /[\w\W]+/ /\p{L}+/ /(?P<x>a)(?P=x)/ /(a)\1/ /(?=a)b+/ /(?<!a)b+/
/^$/ /$^/ /\b\b\b+/ /()*/ /(|a)+/ /[^\w]+/ /a**/ /+a/ /[z-a]+/ /(((((((((((a+)))))))))))/ /\d{1,9}.\d{1,9}/
/(\w+\s?)+$/ /^(([a-z])+.)+[A-Z]([a-z])+$/ /\u0041+/ /\x41+/ /a\/b+/ /lan|ter|n$/ /(lantern)?/
/.?.?.?.?.?.?.?.?.?.?.?.?.?.?.?.?.?.?.?.?lantern/ /[[:alpha:]]+/ /[\d-z]+/ /[a-\d]+/ /(?i)A+/ /(?s:.)+/ /\Aa+\Z/
""".split()
FRAME = (
    '  File "/home/mira/src/shop/{0}.py", line {1}, in handle_{0}\n    return self.inner_{0}(request, retries={1})\n'
)
STOP_WORDS = "what is the of to and a in that it was for on are as with his they at be this have from or".split()


def questions(count: int, seed: int = 1) -> Iterator[str]:
    """Yield so many hostile questions: the fixed ones first, then any mixture of them."""
    chance = random.Random(seed)
    fixed = [*PATTERNS, *OPERATORS, *ODD_WORDS, *_long()]
    yield from fixed
    for number in range(count - len(fixed)):
        yield _MADE[number % len(_MADE)](chance)


def _long() -> list[str]:
    trace = "Traceback (most recent call last):\n" + "".join(FRAME.format(f"step{n}", n) for n in range(100))
    return [
        trace + "ValueError: lantern",
        "lantern " * 12_500,
        " ".join(f"word{number}" for number in range(12_000)),
        "x" * 100_000,
        "é" * 100_000,
        "中文" * 50_000,
        "getUserName" * 9_000,
        "/" + "a+" * 400 + "/",
        '"' + "lantern " * 120 + '"',
        '"' * 5_000,
        "-" * 5_000,
        "(" * 999,
        "a OR " * 199,
        "lantern " + "-x " * 300,
        "+lantern " * 110,
        "la* " * 249,
        "lantern~ " * 110,
        "/l.n+/ " * 140,
        "kind:prompt " * 80,
        "\n" * 1_000,
        "\0" * 900,
        "\u202e" * 900,
        " ".join(STOP_WORDS),
        "{" * 500 + "}" * 500,
        "a.b" * 20_000,
    ]


def _unicode(chance: random.Random) -> str:
    return "".join(chr(chance.randrange(1, 0x110000)) for _ in range(chance.randrange(1, 40)))


def _basic(chance: random.Random) -> str:
    return "".join(chr(chance.randrange(1, 0x3000)) for _ in range(chance.randrange(1, 60)))


def _bytes(chance: random.Random) -> str:
    return os.fsdecode(chance.randbytes(chance.randrange(1, 50)))


def _mixture(chance: random.Random) -> str:
    return " ".join(
        chance.choice(chance.choice([OPERATORS, ODD_WORDS, PATTERNS])) for _ in range(chance.randrange(2, 9))
    )


def _glued(chance: random.Random) -> str:
    return "".join(chance.choice(chance.choice([OPERATORS, ODD_WORDS])) for _ in range(chance.randrange(2, 9)))


def _punctuation(chance: random.Random) -> str:
    return "".join(
        chance.choice("\"'()[]{}<>+-*/~^:;,.?!|&%$#@=\\ \t\nlantern") for _ in range(chance.randrange(1, 80))
    )


def _pattern(chance: random.Random) -> str:
    return "/" + "".join(chance.choice("ab()[]{}|*+?.^$\\wds1,9-") for _ in range(chance.randrange(1, 30))) + "/"


def _silent(chance: random.Random) -> str:
    return " ".join(chance.choice(STOP_WORDS) for _ in range(chance.randrange(1, 12)))


_MADE = (_unicode, _basic, _bytes, _mixture, _glued, _punctuation, _pattern, _silent)
