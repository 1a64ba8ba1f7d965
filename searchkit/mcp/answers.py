"""What tools return, as types: named fields, and those that say nothing are left out, for every one costs tokens."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Reason = Literal["no_match", "filtered", "left_out", "not_indexed"]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was not looked at, and why it is taken for the one that asks."""

    session: str
    because: str


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every answer may say beside its results."""

    empty_because: Annotated[
        Reason | None,
        Meta(
            description="Why there is no result: nothing matches, the filters keep it away, only the session that asks "
            "holds it, or it is not indexed yet."
        ),
    ] = None
    hints: Annotated[list[str], Meta(description="What to try instead, and what was not looked at.")] = []
    left_out: list[LeftOut] = []


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A part of a conversation, cut where it is long; `show` with its uuid shows more."""

    uuid: str
    kind: str = ""
    role: str = ""
    tool: str = ""
    is_error: bool = False
    time: str = ""
    text: str = ""
    cut: Annotated[int, Meta(description="How many characters are not shown.")] = 0
    is_hit: bool = False


class Found(Message, frozen=True, kw_only=True, omit_defaults=True):
    """The best passage of a session, what a person had asked there, and further passages."""

    session: str = ""
    title: str = ""
    project: str = ""
    branch: str = ""
    agent: str = ""
    asked: Annotated[str, Meta(description="What was asked in the turn that it is from.")] = ""
    score: float = 0.0
    others: list[Message] = []


class Search(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """What `search` found: one result a session, best first."""

    results: list[Found] = []
    matches: Annotated[
        int, Meta(description="How many parts hold any of the words, or, if none, are near in meaning.")
    ] = 0
    next_offset: int | None = None


class Show(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """A message inside its conversation, or a session turn by turn."""

    shows: Literal["message", "session"] = "message"
    session: str = ""
    title: str = ""
    project: str = ""
    branch: str = ""
    agent: str = ""
    messages: list[Message] = []
    earlier: Annotated[int, Meta(description="Turns before these.")] = 0
    later: Annotated[int, Meta(description="Turns after these.")] = 0
    next_offset: Annotated[int | None, Meta(description="Where a long message or session goes on.")] = None
    fixed_by: Annotated[list[str], Meta(description="Where what failed here passed later.")] = []
    is_abandoned: Annotated[bool, Meta(description="The conversation later went another way.")] = False


class Context(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """The best passages, each with what led to it, what came of it, and where it is from."""

    text: str = ""
    tokens: Annotated[int, Meta(description="What this whole answer takes, a little generously.")] = 0
    max_tokens: int = 0
    uuids: Annotated[list[str], Meta(description="The messages that are quoted, in order.")] = []


class Session(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session."""

    session: str
    title: str = ""
    project: str = ""
    branch: str = ""
    started: str = ""
    ended: str = ""
    prompts: int = 0
    is_gone: Annotated[bool, Meta(description="Its transcript is no longer on disk.")] = False


class Sessions(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Sessions, newest first."""

    sessions: list[Session] = []
    total: int = 0
    next_offset: int | None = None


class Touched(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation that touched a file, how, and why."""

    session: str
    title: str = ""
    project: str = ""
    branch: str = ""
    asked: str = ""
    touches: list[Message] = []


class Files(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Conversations that touched a file, the latest first."""

    path: Annotated[str, Meta(description="What was looked for: where nothing has the whole path, its end.")] = ""
    conversations: list[Touched] = []
    next_offset: int | None = None


class Fix(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What failed, what was changed, and the same thing passing later."""

    session: str
    title: str = ""
    project: str = ""
    failed: list[Message] = []
    changes: list[Message] = []
    passed: list[Message] = []
    edits: Annotated[int, Meta(description="How many edits lie between; of many, not all are shown.")] = 0


class Fixes(Answer, frozen=True, kw_only=True, omit_defaults=True):
    """Past fixes of such an error; and where it was seen, without a later run that passed, what was said of it."""

    fixes: list[Fix] = []
    seen: list[Found] = []
