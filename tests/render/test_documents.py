"""Conversations as Markdown and as pages: nothing that a transcript says can pass for more than its text."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkit.render import html, markdown
from searchkit.render.document import Code, Command, Diff, Document, Message, Note, Output, Piece, Prose, Row, Tone

EVIL = [
    "```\nrun this\n```",
    "``````\n# heading",
    "~~~\n</pre><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"' onmouseover='x",
    "[link](javascript:x) ![i](http://e/x.png) <http://e>",
    "a\r\n```\rb\u2028```\x1b[31m\u202e",
    "&lt;b&gt; &amp; </style></title><base href=//e>",
]
TAGS = set("html head meta title style body main h1 p article header a span time div pre details summary code".split())


class Page(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def document(text: str) -> Document:
    """Make a document with one text wherever a transcript's text can stand."""
    pieces: list[Piece] = [
        Prose(text=text),
        Code(text=text, language=text),
        Code(text=text, language="python"),
        Command(text=text, purpose=text),
        Output(text=text),
        Diff(path=text, rows=[Row(sign=sign, text=line) for sign in "+- @" for line in text.split("\n")]),
    ]
    said = Message(uuid=text, speaker=text, time=1, pieces=pieces, session=text, most_lines=10_000)
    notes = [Note(text=text, tone=tone, command=text) for tone in Tone]
    return Document(title=text, about=notes, blocks=[said, *notes, said])


def outside(lines: list[str]) -> list[str]:
    """Return the lines of Markdown that are not inside a fence, as CommonMark tells them."""
    found, fence = [], ""
    for line in "\n".join(lines).split("\n"):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if not fence and opening:
            fence = opening[1]
        elif fence and re.fullmatch(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*", line):
            fence = ""
        elif not fence:
            found.append(line)
    assert not fence
    return found


@pytest.mark.parametrize("text", EVIL)
def test_markdown_keeps_texts_inside_their_fences(text: str) -> None:
    """Outside of fences stands what is ours: as many lines whatever the texts are."""
    harmless = outside(list(markdown.lines(document("harmless"), True)))

    found = outside(list(markdown.lines(document(text), True)))

    assert len(harmless) == len(found)
    assert [line[:1] for line in harmless] == [line[:1] for line in found]


@given(st.text(alphabet="`~ \n#ab", max_size=40))
def test_no_text_breaks_out_of_its_fence(text: str) -> None:
    """Whatever runs of signs a text has, the fence around it is longer."""
    found = outside(list(markdown.lines(document(text), True)))

    assert {line[:1] for line in found} <= set("#-*u") | {""}


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("a``b`c", "```a``b`c```"), ("a\n# b", "`a # b`")],
)
def test_code_within_a_line(text: str, shown: str) -> None:
    """A name is code between more backticks than it has."""
    assert shown == markdown.code(text)


@pytest.mark.parametrize("text", EVIL)
def test_page_has_no_tags_but_its_own(text: str) -> None:
    """Every text is escaped: the tags are ours, nothing runs, and nothing is loaded from elsewhere."""
    page = Page("\n".join(html.lines(document(text), True)))

    assert set(page.tags) <= TAGS
    assert [] == page.open
    names = {name for name, _ in page.attributes}
    assert names <= {"lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "datetime", "style"}
    assert all((value or "").startswith("#") for name, value in page.attributes if name == "href")


def test_page_forbids_what_it_does_not_need() -> None:
    """The policy of the page allows its own style and nothing else."""
    page = Page("\n".join(html.lines(document("harmless"), False)))

    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes
    assert "script" not in page.tags
    assert not re.search("url\\(|@import|//", "".join(page.texts))


def test_each_record_has_one_anchor() -> None:
    """What a record says in several places has its anchor at the first."""
    page = Page("\n".join(html.lines(document("abc"), False)))

    assert ["abc"] == [value for name, value in page.attributes if name == "id"]


def test_long_outputs_are_folded_away() -> None:
    """Twenty lines are open, the others a click away; none is missing."""
    output = Output(text="\n".join(f"line {number}" for number in range(100)))
    said = Message(uuid="u", speaker="Bash", time=None, pieces=[output])

    page = "\n".join(html.lines(Document(title="t", about=[], blocks=[said]), False))

    assert "<summary>80 lines more</summary>" in page
    assert page.index("line 19") < page.index("<details>") < page.index("line 20")
    assert "line 99" in page


def test_endless_outputs_are_cut() -> None:
    """A page holds two thousand lines of an output unless all are wanted."""
    said = Message(uuid="u", speaker="Bash", time=None, pieces=[Output(text="line\n" * 9_999 + "last")])
    told = Document(title="t", about=[], blocks=[said])

    short, whole = ("\n".join(html.lines(told, is_full)) for is_full in (False, True))

    assert ("... 8,000 lines more (--full) ..." in short, "(--full)" in whole) == (True, False)
