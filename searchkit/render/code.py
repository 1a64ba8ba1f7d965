"""Code in colours: which stretch of a line is a keyword, a name, a text, a number or a comment."""

from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from searchkit.render.document import Code

if TYPE_CHECKING:
    from pygments.lexer import Lexer

# A stretch of a line: what it is, as a short name, or nothing for what is left as it is; and its text.
Span = tuple[str, str]
# What transcripts name after a fence, and nothing else: a text must not choose among hundreds of lexers.
LANGUAGES = frozenset(
    "bash c c++ cpp c# csharp css cs diff dockerfile go golang graphql html ini java javascript js json jsonc jsx"
    " kotlin lua make makefile nix perl php powershell proto py python r rb ruby rs rust scala scss sh shell sql svelte"
    " swift terraform toml ts tsx typescript vue xml yaml yml zig zsh".split()
)
# Names that lexers do not go by.
_ALIASES = {"jsonc": "json", "svelte": "html", "vue": "html"}
# Longer code is left as it is: a lexer may take time with the square of a hostile line.
MOST_CHARACTERS = 20_000


def spans(code: Code) -> Iterator[list[Span]]:
    """Yield each line as stretches; code in no known language, or too long, is one stretch a line."""
    name = _ALIASES.get(code.language or "", code.language)
    if code.language not in LANGUAGES or name is None or len(code.text) > MOST_CHARACTERS:
        yield from ([("", line)] for line in code.text.split("\n"))
        return
    line: list[Span] = []
    for role, tokens in groupby(_lexer(name).get_tokens(code.text), lambda token: _role(str(token[0]))):
        first, *others = "".join(text for _, text in tokens).split("\n")
        line.append((role, first))
        for other in others:
            yield line
            line = [(role, other)]


@cache
def _lexer(name: str) -> "Lexer":
    # A tenth of a second, paid only where colours are shown.
    from pygments.lexers import get_lexer_by_name

    return get_lexer_by_name(name, stripnl=False, ensurenl=True)


_ROLES = {
    "Token.Comment": "comment",
    "Token.Keyword": "keyword",
    "Token.Literal.String": "string",
    "Token.Literal.Number": "number",
    "Token.Name.Function": "name",
    "Token.Name.Class": "name",
    "Token.Name.Tag": "keyword",
    "Token.Name.Attribute": "name",
    "Token.Name.Builtin": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Generic.Deleted": "removed",
    "Token.Generic.Inserted": "added",
}


@cache
def _role(token: str) -> str:
    """Say what a kind of token is, or one that it is a kind of."""
    while token:
        if token in _ROLES:
            return _ROLES[token]
        token = token.rpartition(".")[0]
    return ""
