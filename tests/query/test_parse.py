"""What is typed becomes a query, and nothing typed is an error."""

import re
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from searchkit.errors import UsageError
from searchkit.query import dates, parse
from searchkit.query.types import Clause, Condition, Filter, Match, Period, Query, Span, Term
from searchkit.text.sanitize import clean
from searchkit.types import Kind, Language

NOW = datetime(2026, 4, 15, 14, 30, tzinfo=ZoneInfo("Europe/Paris"))
# How a test writes a term that is no plain word.
MARKS = {Match.WORD: "", Match.PHRASE: "phrase ", Match.PREFIX: "prefix ", Match.FUZZY: "fuzzy ", Match.REGEX: "regex "}

# What is typed, and its clauses: + required, - excluded, | between terms any of which will do.
CLAUSES = [
    ("", []),
    (" \t ", []),
    ("getUserName src/auth/login.py 读progress文件", ["getUserName", "src/auth/login.py", "读progress文件"]),
    ('a "exact phrase" b', ["a", "+phrase exact phrase", "b"]),
    ('"one"', ["+phrase one"]),
    ("“smart quotes” „unten oben“ «entre guillemets» 「引用」", [
        "+phrase smart quotes", "+phrase unten oben", "+phrase entre guillemets", "+phrase 引用",
    ]),
    ('"why so?", "it broke".', ["+phrase why so?", "+phrase it broke"]),
    ('"" " " x', ["x"]),
    ('say "unbalanced here', ["say", '"unbalanced', "here"]),
    ('print("hello world")', ['print("hello', 'world")']),
    ('"foo"bar', ['"foo"bar']),
    ("-word", ["-word"]),
    ('-"a phrase" -pre* -/a+/', ["-phrase a phrase", "-prefix pre", "-regex a+"]),
    ("-读", ["-读"]),
    ("- -- --flag -1 -10px -> -i -(x)", ["-", "--", "--flag", "-1", "-10px", "->", "-i", "-(x)"]),
    ("+word + +1 ++i +x", ["+word", "+", "+1", "++i", "+x"]),
    ("cat OR dog", ["cat|dog"]),
    ("a cat OR dog OR +bird b", ["a", "cat|dog|bird", "b"]),
    ("cat or dog", ["cat", "or", "dog"]),
    ('"a b" OR /c+/ OR +word', ["+phrase a b|regex c+|word"]),
    ('cat OR "a b"', ["cat|phrase a b"]),
    ("OR a", ["a"]),
    ("a OR", ["a"]),
    ("a OR OR b", ["a|b"]),
    ("OR OR", ["OR", "OR"]),
    ("a OR -word", ["a", "-word"]),
    ("-word OR a", ["-word", "a"]),
    ("a kind:text OR b", ["a", "b"]),
    ("cat AND dog", ["cat", "dog"]),
    ("cat and dog not bird", ["cat", "and", "dog", "not", "bird"]),
    ("cat AND dog OR bird", ["cat", "dog|bird"]),
    ("AND a AND", ["a"]),
    ("cat NOT dog bird", ["cat", "-dog", "bird"]),
    ("cat AND NOT dog", ["cat", "-dog"]),
    ("cat OR NOT dog", ["cat", "-dog"]),
    ('NOT "a phrase" NOT pre* NOT +b NOT -word', ["-phrase a phrase", "-prefix pre", "-+b", "-word"]),
    ("cat NOT", ["cat"]),
    ("AND OR NOT", ["AND", "OR", "NOT"]),
    ("NOT NULL constraint failed", ["NOT", "NULL", "constraint", "failed"]),
    ("404 NOT FOUND: x", ["404", "NOT", "FOUND:", "x"]),
    ("dup dup OR x", ["dup", "dup|x"]),
    ("pre* a* * ** *.py src/* char**", ["prefix pre", "a*", "*", "**", "*.py", "src/*", "char**"]),
    ("fuzzy~ +rerank~ foo~ HEAD~3 HEAD~ ~/.claude a.b.c~", [
        "fuzzy fuzzy", "+fuzzy rerank", "foo~", "HEAD~3", "HEAD~", "~/.claude", "a.b.c~",
    ]),
    (r"/foo.*bar/ /^\d+$/ /a|b/", ["+regex foo.*bar", r"+regex ^\d+$", "+regex a|b"]),
    (r"/foo \d+ bar/ x", [r"+regex foo \d+ bar", "x"]),
    (r"/a\/b+/", [r"+regex a\/b+"]),
    ("/usr/bin/env /usr/ src/a.b/ /a.b/ // /", ["/usr/bin/env", "/usr/", "src/a.b/", "/a.b/", "//", "/"]),
    ("/help (what does / do", ["/help", "(what", "does", "/", "do"]),
    ("/one and two/", ["/one", "and", "two/"]),
    ("kind: Deployment", ["kind:", "Deployment"]),
    ("file:///etc/hosts http://x C:\\x", ["file:///etc/hosts", "http://x", "C:\\x"]),
    ("error: expected ) near", ["error:", "expected", ")", "near"]),
    ('title: title:"" title:"x project:, foo:bar', ["title:", 'title:""', 'title:"x', "project:,", "foo:bar"]),
    ("🎉 a\ud83d\ude00b \ud83d", ["🎉", "a😀b", "\ufffd"]),
    ("nul\0byte \x1b[31mred\x1b[0m", ["nul", "byte", "red"]),
]  # fmt: skip
FILTERS = [
    ("project:api", [Filter(name="project", values=("api",))]),
    ("PROJECT:Api", [Filter(name="project", values=("Api",))]),
    ("project:api project:web project:api", [Filter(name="project", values=("api", "web"))]),
    ("project:api?", [Filter(name="project", values=("api",))]),
    ("-project:api", [Filter(name="project", values=("api",), is_excluded=True)]),
    ("NOT project:api", [Filter(name="project", values=("api",), is_excluded=True)]),
    (
        "tool:Bash -tool:Read tool:Edit",
        [Filter(name="tool", values=("Bash", "Edit")), Filter(name="tool", values=("Read",), is_excluded=True)],
    ),
    ('title:"my title"', [Filter(name="title", values=("my title",))]),
    ("title:“my title”", [Filter(name="title", values=("my title",))]),
    ("file:src/a,b.py", [Filter(name="file", values=("src/a,b.py",))]),
    ("file:/etc/hosts", [Filter(name="file", values=("/etc/hosts",))]),
    ("kind:prompt,text,", [Filter(name="kind", values=("prompt", "text"))]),
    ("kind:Prompts kind:call kind:tool_use", [Filter(name="kind", values=("prompt", "tool_call"))]),
    ("kind:result kind:summaries kind:tool-results", [Filter(name="kind", values=("tool_result", "summary"))]),
    ("role:user,Assistant", [Filter(name="role", values=("user", "assistant"))]),
    ("language:fr lang:German Lang:EN", [Filter(name="language", values=("fr", "de", "en"))]),
    (
        "-language:en lang:fr,japanese",
        [
            Filter(name="language", values=("en",), is_excluded=True),
            Filter(name="language", values=("fr", "ja")),
        ],
    ),
    ("is:error is:sidechains", [Filter(name="is", values=("error", "sidechain"))]),
    (
        "session:0a1b agent:x branch:main model:opus",
        [
            Filter(name="session", values=("0a1b",)),
            Filter(name="agent", values=("x",)),
            Filter(name="branch", values=("main",)),
            Filter(name="model", values=("opus",)),
        ],
    ),
]
# What looks like more than words, and what its note says.
TAKEN_FOR_WORDS = [
    ("kind:Deployment", "kind:Deployment was read as words: it is not a kind of part; use one of prompt, text, "),
    ("-kind:poem", "-kind:poem was read as words: it is not a kind of part; "),
    ("kind:prompt,poem", "kind:prompt,poem was read as words: "),
    ("role:button", "role:button was read as words: it is not a role; use one of user, assistant, system"),
    ("is:not", "is:not was read as words: it is not a state of a part; use one of error, sidechain, summary"),
    (
        "lang:python",
        "lang:python was read as words: it is not a known language; use one of en, ",
    ),
    ("on:click", "on:click was read as words: it is not a date; use forms such as 2026-03-01, "),
    ("after:2026-02-30", "after:2026-02-30 was read as words: it is not a date; "),
    ("/[[:alpha:]]/", "/[[:alpha:]]/ was read as words: it is not a regular expression that can be read"),
    ("/(a+))/", "/(a+))/ was read as words: it is not a regular expression that can be read"),
]
NO_LANGUAGE = "is not a known language"
STACK_TRACE = "\n".join(
    ["Traceback (most recent call last):"]
    + [f'  File "/srv/app/module_{number}.py", line {number}, in <module>' for number in range(200)]
    + ["kind:Deployment -flag OR after:2026-02-30 KeyError: 'x'"]
)


@pytest.mark.parametrize(("text", "clauses"), CLAUSES, ids=[ascii(text)[1:40] for text, _ in CLAUSES])
def test_text_is_read_as_clauses(text: str, clauses: list[str]) -> None:
    """Words are words as they were typed; quotes, signs, stars, tildes and slashes say how to take them."""
    assert clauses == [written(clause) for clause in ask(text).clauses]


@pytest.mark.parametrize(("text", "filters"), FILTERS)
def test_filters_are_read_inside_the_text(text: str, filters: list[Filter]) -> None:
    """Filters of one name are one filter with several values, and none of them is a word."""
    understood = ask(text)

    assert filters == list(understood.condition.filters)
    assert () == understood.clauses
    assert () == understood.notes


@pytest.mark.parametrize(("text", "filters"), FILTERS)
def test_options_are_read_as_filters_are(text: str, filters: list[Filter]) -> None:
    """An option means what the filter means, and so does the text that has some of both."""
    pairs = re.findall(r"(-?)(\w+):(\"[^\"]+\"|“[^”]+”|\S+)", text.replace("NOT ", "-"))
    options = [(name, sign + value.strip('"“”?')) for sign, name, value in pairs]

    assert ask(text).condition == parse.understand("", now=NOW, filters=options).condition
    assert ask(text).condition == parse.understand(text, now=NOW, filters=options).condition
    assert filters == list(ask(text).condition.filters)


@pytest.mark.parametrize(
    ("text", "near"),
    [("prject:shop", "project:?"), ("-sesion:1234", "session:?"), ("since:7d", "after:?"), ("std::move", ""),
     ("type:error", ""), ("https://example.com", ""), ("12:30", ""), ("error:expected", "")],
)  # fmt: skip
def test_filter_that_is_none_is_told_where_one_is_near(text: str, near: str) -> None:
    """A misspelt filter is read as words, as anything else is, and its right name is told."""
    notes = ask(text).notes

    assert [near] * bool(near) == [note.rpartition(" ")[2] for note in notes]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("grep -i giraffe", "type NOT i"),
        ("/gira[f]+", "no / at its end"),
        ('"two words', "no quote at its end"),
        ("/usr/bin /tmp 5'10\" -v2 a/b", ""),
        ('"two words" /gira[f]+/ NOT i', ""),
    ],
)
def test_sign_that_was_not_taken_is_named(text: str, said: str) -> None:
    """What was read as words although it was likely meant as more is said aloud, with what to type instead."""
    notes = ask(text).notes

    assert bool(said) == bool(notes)
    assert all(said in note for note in notes)


@pytest.mark.parametrize(("text", "note"), TAKEN_FOR_WORDS)
def test_filter_that_makes_no_sense_is_words(text: str, note: str) -> None:
    """Inside the text a wrong value is what it looks like, words, and a note says so."""
    understood = ask(text)

    assert [text] == [written(clause) for clause in understood.clauses]
    assert Condition() == understood.condition
    assert 1 == len(understood.notes)
    assert understood.notes[0].startswith(note)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kind", "poem", f"kind:poem is not a kind of part; use one of {', '.join(Kind)}"),
        ("kind", "-poem", f"kind:poem is not a kind of part; use one of {', '.join(Kind)}"),
        ("role", "button", "role:button is not a role; use one of user, assistant, system"),
        ("language", "fi", f"language:fi {NO_LANGUAGE}; use one of {', '.join(Language)}"),
        ("lang", "Elvish", f"language:Elvish {NO_LANGUAGE}; use one of {', '.join(Language)}"),
        ("is", "", "is: is not a state of a part; use one of error, sidechain, summary"),
        ("after", "soon", f"after:soon is not a date; use forms such as {', '.join(dates.EXAMPLES)}"),
        ("project", "", "project: has no value"),
        ("tool", ",", "tool:, has no value"),
        ("colour", "red", "colour is not a filter"),
    ],
)
def test_option_that_makes_no_sense_is_an_error(name: str, value: str, message: str) -> None:
    """An option with a wrong value is refused with what would be right, and a hint."""
    with pytest.raises(UsageError) as refused:
        parse.understand("words", now=NOW, filters=[(name, value)])

    assert message == refused.value.message
    assert refused.value.hint


def test_examples_of_dates_are_dates() -> None:
    """The forms shown where a date was wrong are themselves right."""
    for example_of_date in dates.EXAMPLES:
        assert dates.span(example_of_date.strip('"'), NOW)


def test_dates_are_periods() -> None:
    """Days count from their beginning for after and before and whole for on, times ago to the moment."""
    understood = ask('after:2026-03-01 before:2026-04 on:yesterday on:"last march" -after:7d words')

    march, april = at(2026, 3, 1), at(2026, 4, 1)
    assert ["words"] == [written(clause) for clause in understood.clauses]
    assert understood.condition.periods == (
        Period(spans=(Span(start=march),)),
        Period(spans=(Span(end=april),)),
        Period(spans=(Span(start=at(2026, 4, 14), end=at(2026, 4, 15)), Span(start=march, end=april))),
        Period(spans=(Span(start=at(2026, 4, 8, 14, 30)),), is_excluded=True),
    )


def test_date_in_passing_ranks_and_stays_words() -> None:
    """A date that the question names is its period; the words stay, and nothing is filtered."""
    understood = ask("what did we decide in march")

    assert Period(spans=(Span(start=at(2026, 3, 1), end=at(2026, 4, 1)),)) == understood.period
    assert ["what", "did", "we", "decide", "in", "march"] == [written(clause) for clause in understood.clauses]
    assert Condition() == understood.condition


@pytest.mark.parametrize("text", ['"last week"', "-yesterday", "after:yesterday", "in title:x march", 'in "x" march'])
def test_signs_name_no_date_in_passing(text: str) -> None:
    """What is quoted, excluded or a filter names no date in passing, nor do the words around it."""
    assert ask(text).period is None


@pytest.mark.parametrize("text", [STACK_TRACE, 'one "two three"\n-four', "a OR b\nc", "x " * 600 + "kind:prompt"])
def test_pasted_text_is_words(text: str) -> None:
    """In several lines, or very many characters, nothing is a sign or a filter, and a note says so."""
    understood = ask(text)

    assert text.split() == [written(clause) for clause in understood.clauses]
    assert Condition() == understood.condition
    assert understood.period is None
    assert 1 == len(understood.notes)
    assert understood.notes[0].startswith("The text looks pasted")


@pytest.mark.parametrize(
    "text", ["kind: Deployment\nmetadata: x", "words\nin march", "x" * 2_000, "kind:Deployment\nx"]
)
def test_pasted_text_without_signs_needs_no_note(text: str) -> None:
    """Where pasted text had nothing but words, there is nothing to say."""
    assert () == ask(text).notes


@pytest.mark.parametrize("text", ["ld: cannot find -lssl", 'KeyError: "session"', "Error: tool:Bash failed after:7d"])
def test_what_is_said_to_be_pasted_is_words(text: str) -> None:
    """A single line is all words where whoever asks knows that nobody typed it as a question."""
    understood = parse.understand(text, now=NOW, is_pasted=True)

    assert tuple(Clause(terms=(Term(text=word),)) for word in text.split()) == understood.clauses
    assert (Condition(), ()) == (understood.condition, understood.notes)


def test_pasted_text_keeps_its_options() -> None:
    """Filters given as options hold for pasted text, too, and a final line end does not make it so."""
    pasted = parse.understand("one\ntwo", now=NOW, filters=[("kind", "prompt")])

    assert (Filter(name="kind", values=("prompt",)),) == pasted.condition.filters
    assert ["+phrase a b"] == [written(clause) for clause in ask('"a b"\n').clauses]


def test_conditions_are_written_as_json() -> None:
    """Filters are written by name, times in UTC, and what excludes has a sign."""
    text = (
        "project:api project:web -kind:result after:2026-03-01 before:7d -before:2025 on:today -on:2026-03 -on:2026-01"
    )

    assert parse.filters(ask(text).condition) == {
        "project": ["api", "web"],
        "-kind": ["tool_result"],
        "after": "2026-02-28T23:00:00.000Z",
        "before": "2026-04-08T12:30:00.000Z",
        "-before": "2024-12-31T23:00:00.000Z",
        "on": [["2026-04-14T22:00:00.000Z", "2026-04-15T22:00:00.000Z"]],
        "-on": [
            ["2026-02-28T23:00:00.000Z", "2026-03-31T22:00:00.000Z"],
            ["2025-12-31T23:00:00.000Z", "2026-01-31T23:00:00.000Z"],
        ],
    }
    assert {"after": ["2025-12-31T23:00:00.000Z", "2026-02-28T23:00:00.000Z"]} == parse.filters(
        ask("after:2026 after:2026-03").condition
    )
    assert {} == parse.filters(Condition())


PIECES = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        '" “ ” - + / /a+/ /[ [[ ( OR AND NOT kind: kind:prompt on: on:7d title:"x * ~ word* word~ -word \n \0 \\'.split(
            " "
        )
    ),
    st.sampled_from(["\ud800", " ", "march", "http://x", "file:///x", "C:\\x", "HEAD~3"]),
)


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES, max_size=12).map(" ".join), st.lists(PIECES, max_size=12).map("".join)))
@example(STACK_TRACE)
@example("/" + "(" * 480 + "a+" + ")" * 480 + "/")
@example("/a{99999999999999999999}+/")
@example("/a{" + "9" * 900 + "}/")
@example("/[]--a]+/")
@example("/a**/ /(?i)a+/ /b(?i)a+/ /[a&&b]/")
def test_whatever_is_typed_is_understood(text: str) -> None:
    """No text raises, none loses a letter, and every query can be encoded."""
    understood = ask(text)

    typed = re.sub("OR|AND|NOT", "", clean(understood.text))
    if understood.condition.periods:
        typed = DATE_FILTER.sub("", typed)
    assert letters(typed) <= letters(everything(understood))
    assert understood.text.encode() is not None
    assert all(term.text.strip() for clause in understood.clauses for term in clause.terms)
    assert isinstance(parse.filters(understood.condition), dict)


# These keep the time that they name, not its letters.
DATE_FILTER = re.compile(r"(?:after|before|on):(?:\"[^\"]*\"|“[^”]*”|\S+)", re.IGNORECASE)


def everything(understood: Query) -> str:
    """Put together all that a query holds."""
    terms = [term.text for clause in understood.clauses for term in clause.terms]
    filters = [one.name + "".join(one.values) for one in understood.condition.filters]
    return "".join(terms + filters)


def letters(text: str) -> set[str]:
    """Tell which letters and figures a text has, whatever their case: the names of filters have but one."""
    return set(re.findall(r"\w", text.casefold()))


def ask(text: str) -> Query:
    """Understand a text without options."""
    return parse.understand(text, now=NOW)


def written(clause: Clause) -> str:
    """Write a clause in a line."""
    sign = "-" if clause.is_excluded else "+" if clause.is_required else ""
    return sign + "|".join(MARKS[term.match] + term.text for term in clause.terms)


def at(*local: int) -> int:
    """Tell the milliseconds of a local time in Paris."""
    year, month, day, hour, minute = (*local, 0, 0)[:5]
    return int(datetime(year, month, day, hour, minute, tzinfo=NOW.tzinfo).timestamp() * 1000)
