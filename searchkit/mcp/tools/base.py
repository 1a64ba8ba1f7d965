"""What the tools share: arguments with their descriptions, the answer, its text, and the JSON Schema of both."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from searchkit.engine import Engine
from searchkit.mcp.caller import Caller, LeftOut
from searchkit.mcp.quoting import Reason
from searchkit.query.filters import BY_NAME, among

Query = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=20_000,
        description='Words to find. Also "exact phrase", -excluded, this OR that, prefix*, fuzzy~, and filters such '
        "as branch:main, role:user, is:error.",
        examples=["webhook race condition", '"connection refused" redis -docker'],
    ),
]
Project = Annotated[str, Meta(max_length=1_000, description=BY_NAME["project"].help, examples=["shop"])]
File = Annotated[str, Meta(max_length=1_000, description=BY_NAME["file"].help)]
After = Annotated[
    str, Meta(max_length=100, description="From then on.", examples=["7d", "2026-03-01", "yesterday", "last march"])
]
Before = Annotated[str, Meta(max_length=100, description="Before then; forms as in `after`.")]
ExcludeSession = Annotated[
    str,
    Meta(
        max_length=200,
        description="The id of the session that asks, to leave it out; it is often found without being named.",
    ),
]
Offset = Annotated[int, Meta(ge=0, le=1_000, description="Where to go on: `next_offset` of the page before.")]

_PREFIX = "#/$defs/"


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes: nothing that it does not know."""


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every answer may say beside its results; fields that say nothing are left out, for each costs tokens."""

    empty_because: Annotated[
        Reason | None,
        Meta(
            description="Why there is no result: nothing matches, the filters keep it away, only the session that asks "
            "holds it, it is not indexed yet, or such an error is not known."
        ),
    ] = None
    hints: Annotated[list[str], Meta(description="What to try instead, and what was not looked at.")] = []
    left_out: list[LeftOut] = []

    def lines(self) -> Iterator[str]:
        """Write the results, what is quoted indented."""
        raise NotImplementedError


class Tool(NamedTuple):
    """A tool: its name, what a model reads about it, what it takes and returns, and what it does."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    answer: type[Answer]
    run: Callable[[Engine, Any, Caller], Answer]

    @property
    def input_schema(self) -> dict[str, Any]:
        """What it takes."""
        return schema(self.arguments)

    @property
    def output_schema(self) -> dict[str, Any]:
        """What it returns."""
        return schema(self.answer)


def text(answer: Answer) -> str:
    """Write an answer for clients that show a model no structured content; nothing of it is cut again."""
    return "\n".join([*answer.lines(), *_remarks(answer)]) or "Nothing."


def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON Schema of a type as a model reads it: no references, and no names, which only cost tokens."""
    (root,), components = msgspec.json.schema_components([kind], ref_template=f"{_PREFIX}{{name}}")
    found: dict[str, Any] = _inline(root, components)
    return found


def given_filters(arguments: Arguments) -> list[tuple[str, str]]:
    """Return those of the arguments that are filters of the same name, and not empty."""
    return among(asdict(arguments))


def _remarks(answer: Answer) -> Iterator[str]:
    if answer.empty_because:
        yield f"Nothing found: {answer.empty_because}."
    yield from answer.hints
    yield from (f"Left out: session {one.session}; {one.because}." for one in answer.left_out)
    following = getattr(answer, "next_offset", None)
    if following is not None:
        yield f"More with offset {following}."


def _inline(value: Any, components: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_inline(one, components) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = components[value["$ref"].removeprefix(_PREFIX)]
        # The docstring of a type is for readers of the code; the description of a property is kept.
        return _inline(_without(named, "description") | _without(value, "$ref"), components)
    return {
        key: _properties(one, components) if key == "properties" else _inline(one, components)
        for key, one in _without(value, "title").items()
    }


def _properties(value: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Look into each property; one of them may be called `title`."""
    return {name: _inline(one, components) for name, one in value.items()}


def _without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key != name}
