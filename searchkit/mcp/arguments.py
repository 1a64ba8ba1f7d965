"""What a tool may be asked, as types: their JSON Schema is what a model reads, and calls are checked against it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from searchkit.query.filters import BY_NAME
from searchkit.types import Kind

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
Id = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=200,
        description="The uuid of a message or of a session, from any result, or the beginning of one.",
    ),
]
Asking = Annotated[
    str,
    Meta(
        max_length=200,
        description="The id of the session that asks, to leave it out; it is often found without being named.",
    ),
]
Offset = Annotated[int, Meta(ge=0, le=1_000, description="Where to go on: `next_offset` of the page before.")]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every tool takes: nothing that it does not know."""


class Search(Arguments, frozen=True, kw_only=True):
    """What `search` takes."""

    query: Query
    project: Project = ""
    file: File = ""
    tool: Annotated[str, Meta(max_length=200, description="A tool's name, or the MCP server that offers it.")] = ""
    kind: Annotated[
        list[Kind],
        Meta(max_length=len(Kind), description="Only these kinds of parts; `prompt` is what a person typed."),
    ] = []
    errors_only: Annotated[bool, Meta(description="Only results of tools that failed.")] = False
    after: After = ""
    before: Before = ""
    mode: Annotated[
        Literal["hybrid", "keyword", "semantic"], Meta(description="Ask for words and meaning, or for one of them.")
    ] = "hybrid"
    sort: Annotated[Literal["relevance", "newest", "oldest"], Meta(description="What comes first.")] = "relevance"
    limit: Annotated[int, Meta(ge=1, le=20, description="How many sessions.")] = 5
    offset: Offset = 0
    exclude_session: Asking = ""


class Show(Arguments, frozen=True, kw_only=True):
    """What `show` takes."""

    id: Id
    before: Annotated[int, Meta(ge=0, le=10, description="Turns before the message.")] = 1
    after: Annotated[int, Meta(ge=0, le=10, description="Turns after the message.")] = 1
    offset: Annotated[
        int,
        Meta(ge=0, le=100_000_000, description="Where to go on in a long message or session: `next_offset`."),
    ] = 0


class Context(Arguments, frozen=True, kw_only=True):
    """What `context` takes."""

    query: Query
    max_tokens: Annotated[int, Meta(ge=100, le=20_000, description="How many tokens the answer may take.")] = 1_500
    project: Project = ""
    file: File = ""
    after: After = ""
    before: Before = ""
    exclude_session: Asking = ""


class Sessions(Arguments, frozen=True, kw_only=True):
    """What `sessions` takes."""

    title: Annotated[str, Meta(max_length=1_000, description="Words of the title.")] = ""
    project: Project = ""
    branch: Annotated[str, Meta(max_length=1_000, description=BY_NAME["branch"].help)] = ""
    file: File = ""
    after: After = ""
    before: Before = ""
    limit: Annotated[int, Meta(ge=1, le=50, description="How many sessions.")] = 10
    offset: Offset = 0
    exclude_session: Asking = ""


class Files(Arguments, frozen=True, kw_only=True):
    """What `files` takes."""

    path: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=1_000,
            description="A file, by its path or by the end of it.",
            examples=["src/shop/cookie.py"],
        ),
    ]
    changed_only: Annotated[bool, Meta(description="Only where it was edited or written, not merely read.")] = False
    project: Project = ""
    after: After = ""
    before: Before = ""
    limit: Annotated[int, Meta(ge=1, le=20, description="How many conversations.")] = 5
    offset: Offset = 0
    exclude_session: Asking = ""


class Fixes(Arguments, frozen=True, kw_only=True):
    """What `fixes` takes."""

    error: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=20_000,
            description="The text of the error, as it was printed.",
            examples=["sqlite3.OperationalError: database is locked"],
        ),
    ]
    project: Project = ""
    limit: Annotated[int, Meta(ge=1, le=10, description="How many fixes.")] = 3
    exclude_session: Asking = ""
