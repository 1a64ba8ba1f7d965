"""The nouns that flow between the stages, as frozen values.

Those that come from a source are encoded as arrays when they cross to another process: their
field names would weigh as much as what they hold.
"""

from collections.abc import Mapping, Sequence
from enum import IntEnum, StrEnum

import msgspec


class Kind(StrEnum):
    """What a part is; every part has exactly one."""

    PROMPT = "prompt"
    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    SUMMARY = "summary"
    TITLE = "title"
    SYSTEM = "system"
    ATTACHMENT = "attachment"
    COMMAND = "command"
    PLAN = "plan"
    MEMORY = "memory"
    TODO = "todo"
    HISTORY = "history"


class Role(StrEnum):
    """Who speaks in a part."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


class Language(StrEnum):
    """What a text is written in, of those that can be told apart; English first, as most texts are."""

    ENGLISH = "en"
    CHINESE = "zh"
    JAPANESE = "ja"
    KOREAN = "ko"
    FRENCH = "fr"
    GERMAN = "de"
    SPANISH = "es"
    PORTUGUESE = "pt"
    ITALIAN = "it"
    DUTCH = "nl"
    POLISH = "pl"
    SWEDISH = "sv"
    TURKISH = "tr"
    VIETNAMESE = "vi"
    RUSSIAN = "ru"
    UKRAINIAN = "uk"
    ARABIC = "ar"
    PERSIAN = "fa"
    HEBREW = "he"
    HINDI = "hi"
    THAI = "th"
    GREEK = "el"


class Standing(IntEnum):
    """How directly a record holds its text; of equal texts in one session the lowest standing is shown.

    Only `ORIGINAL` parts may say the same thing twice: "continue" typed twice is two prompts,
    a prompt that the queue and the history also hold is one. A `STAND_IN` is dropped altogether
    once the result comes that it stood in for.
    """

    ORIGINAL = 0
    COPY = 1
    MACHINE = 2
    QUEUE = 3
    STATE = 4
    SIDE = 5
    STAND_IN = 6


class Context(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True, cache_hash=True):
    """What surrounded a record when it was written; few of these serve many records."""

    cwd: str | None = None
    branch: str | None = None
    version: str | None = None
    entrypoint: str | None = None
    model: str | None = None


class Usage(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """What one response of the model cost, in tokens and, where the transcript says so, in dollars.

    `cache_write_1h` is the part of `cache_write` that stays in the cache for an hour, which is dearer.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None
    cache_write_1h: int = 0


class Touch(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """A file that a tool call read, edited or wrote, or that the file history tracked."""

    path: str
    action: str


class Field(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """Where in a tool call's text the value of one of its inputs lies."""

    name: str
    start: int
    end: int


class Block(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One piece of a record as its source understood it, not yet cleaned."""

    number: int
    kind: Kind
    role: Role
    text: str
    tool: str | None = None
    call: str | None = None
    is_error: bool = False
    fields: tuple[Field, ...] = ()


class Record(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One line of a transcript or one side file: its place, its links, and what it says."""

    uuid: str
    type: str
    line: int
    session: str | None = None
    agent: str | None = None
    parent: str | None = None
    logical_parent: str | None = None
    source_call: str | None = None
    time: int | None = None
    context: Context = Context()
    response: str | None = None
    usage: Usage | None = None
    standing: Standing = Standing.ORIGINAL
    is_link: bool = True
    is_sidechain: bool = False
    is_forked: bool = False
    is_boundary: bool = False
    blocks: Sequence[Block] = ()
    touches: Sequence[Touch] = ()


class Part(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One searchable thing: a block with clean text, and the language of that where it is prose and can be told."""

    uuid: str
    block: int
    kind: Kind
    role: Role
    text: str
    digest: int
    tool: str | None = None
    call: str | None = None
    is_error: bool = False
    fields: tuple[Field, ...] = ()
    language: Language | None = None


# The name of the fact that a call has a result, where that result is blank and makes no part.
ANSWERED = "answered"


class Fact(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """Something known of a session or one of its agents: a title, a tag, the call that started it."""

    session: str
    name: str
    value: str
    agent: str | None = None
    leaf: str | None = None
    line: int = 0


# The name of the fact of what a session had cost so far: a `CostState` as JSON; the leaf is the last message before it.
COST_STATE = "cost-state"
# The name of the fact of how long a turn took: milliseconds, and the uuid of the record that says so, also as the leaf.
TURN_DURATION = "turn-duration"


class CostState(msgspec.Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """What a client had counted for a session when it wrote this down: running totals since `started`.

    A session that is reopened goes on with its totals and keeps `started`; so does a session that the client forks
    from another by `--fork-session`. Times are in milliseconds. `time` is that of the line before.
    """

    usd: float
    started: int | None = None
    time: int | None = None
    api_ms: int = 0
    duration_ms: int = 0
    output: int = 0
    models: dict[str, float] = {}
    has_unknown_model: bool = False


class Problem(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """Something wrong in a file, at a line (0 where the whole file is meant)."""

    kind: str
    line: int
    detail: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that is wrong in a transcript or in the index, and where."""

    kind: str
    file: str
    line: int
    detail: str = ""


class Origin(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """What a file is: a transcript of a session or of an agent, or a side file.

    A copy yields its place as a record's home to any other. A document is read whole, and a new
    version of it replaces what the old one said.
    """

    kind: str
    session: str | None = None
    agent: str | None = None
    project_directory: str | None = None
    is_copy: bool = False
    is_document: bool = False


class Tally(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """What reading has counted in a file from its beginning: bytes, lines, and what was kept out and why."""

    bytes: int = 0
    lines: int = 0
    torn: int = 0
    noise: Mapping[str, int] = {}


class Change(msgspec.Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """What one file has gained since it was last read, with the checkpoint that makes it so.

    A large file comes as several changes. `is_restart` says that the file is read from its
    beginning, so that earlier problems of it are void. The tally is that of the whole file so far,
    while `left_out` counts what this change alone kept out. What was passed over could not even be
    looked at: every run tells of it, and nothing is kept.
    """

    file: str
    origin: Origin
    checkpoint: bytes | None
    records: Sequence[Record] = ()
    facts: Sequence[Fact] = ()
    problems: Sequence[Problem] = ()
    tally: Tally = Tally()
    left_out: Mapping[str, int] = {}
    is_restart: bool = False
    is_gone: bool = False
    is_passed_over: bool = False
    moved_from: str | None = None
    bytes_read: int = 0
    bytes_left: int = 0


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """How a source reads: its version, and what that says of records that are in the index already, by their types.

    `silent` types make no parts, those in `kinds` make parts of that kind, and only `typing` ones can hold what a
    person typed.
    """

    version: int
    # The name under which an index remembers the version, its own for every source.
    key: str = "reading"
    silent: frozenset[str] = frozenset()
    kinds: Mapping[str, Kind] = {}
    typing: frozenset[str] = frozenset()


class Behind(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How much a source holds that has not been read yet."""

    files: int
    bytes: int


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """A picture in a transcript: its type, and its bytes in base64 where they are wanted."""

    type: str
    data: str = ""


class Place(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a record lies: a file, a line in it, and the session that this makes it part of."""

    file: str
    line: int
    session: str | None
    agent: str | None


class Link(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A record as the catalog keeps it: its links and all its places, the home first."""

    uuid: str
    type: str
    parent: str | None
    logical_parent: str | None
    source_call: str | None
    response: str | None
    time: int | None
    is_sidechain: bool
    is_boundary: bool
    standing: Standing
    context: Context
    places: tuple[Place, ...]


class Heading(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a session is known by."""

    id: str
    project: str | None
    title: str | None
    branch: str | None
    ended: int | None
    is_gone: bool
    # The name of the agent program that wrote it; empty means the first of all.
    app: str = ""


class Session(Heading, frozen=True, kw_only=True, gc=False):
    """A session as the catalog keeps it."""

    started: int | None
    records: int
    prompts: int
    agents: int


class Counts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How much a catalog holds; `gone` counts the sessions whose transcripts are no longer on disk."""

    files: int = 0
    bytes: int = 0
    lines: int = 0
    torn: int = 0
    records: int = 0
    links: int = 0
    sessions: int = 0
    sessions_without_transcript: int = 0
    gone: int = 0
    agents: int = 0
    parts: Mapping[str, int] = {}
    repeats: int = 0
    noise: Mapping[str, int] = {}
    responses: int = 0
    touched: int = 0


class Grouping(StrEnum):
    """What figures are told apart by. Days, weeks and months are those of the user's time zone."""

    TOTAL = "total"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    PROJECT = "project"
    MODEL = "model"
    TOOL = "tool"
    FILE = "file"


class Figures(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """How much was asked, answered and done. Failed are calls whose result is an error.

    Tokens and cost count once for each response, however many records tell of it. The cost is in dollars, and None
    where nothing is known of it; `estimated` is the part of it that no transcript says and that was worked out from
    tokens and prices. Responses that nobody said a cost of and whose model has no price are `unpriced`. `api_ms` is
    how long the client waited for the model, and `api_output` the tokens that it got meanwhile.
    """

    sessions: int = 0
    prompts: int = 0
    responses: int = 0
    calls: int = 0
    failed: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = None
    estimated: float = 0.0
    unpriced: int = 0
    api_ms: int = 0
    api_output: int = 0

    @property
    def output_per_second(self) -> float | None:
        """Tokens that the model wrote in a second, where a client measured the time."""
        return 1000 * self.api_output / self.api_ms if self.api_ms and self.api_output else None


class Cost(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a session cost in dollars, without what it inherited from the session that it was forked from."""

    usd: float
    is_estimate: bool = False
    inherited: float = 0.0
    api_ms: int = 0
    output_per_second: float | None = None


class SecretPlace(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Where a secret lies in the index: the session and the part, what kind it is, and its mask."""

    session: str | None
    part: str
    kind: str
    mark: str


# How long Claude Code keeps transcripts, and what of them is lost when it deletes them: values only.

# What Claude Code documents: transcripts go after 30 days unless its settings say otherwise, and 1 is the least.
DEFAULT_DAYS = 30
MIN_DAYS = 1
SETTING = "cleanupPeriodDays"
# What people set who want to keep everything: there is no value for "never", and 0 is refused.
FOREVER_DAYS = 99_999
# Somebody who has chosen a year or more knows of the setting, and need not be reminded.
CALM_DAYS = 365
# What is not indexed and falls due within a week is to be indexed now.
SOON_DAYS = 7
DAY_MILLISECONDS = 86_400_000


class Fault(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Why a settings file does not say how long transcripts are kept, and what to do."""

    file: str
    message: str
    hint: str


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What the settings below a root say: days, and the file that decides, whether or not it is there."""

    root: str
    settings: str
    days: int = DEFAULT_DAYS
    is_set: bool = False
    faults: Sequence[Fault] = ()
    last_sweep: int | None = None

    @property
    def is_calm(self) -> bool:
        """Whether there is nothing to warn of."""
        return self.days >= CALM_DAYS and not self.faults


class Exposure(msgspec.Struct, frozen=True, kw_only=True):
    """What lies below a root for Claude Code to delete; times are in milliseconds.

    `first_due` is when the oldest transcript may go, `overdue` counts those that the next start of Claude Code
    deletes. `unread` counts what is not indexed, wholly or in part, and `unread_soon` those that go within a week.
    """

    policy: Policy
    transcripts: int = 0
    first_due: int | None = None
    overdue: int = 0
    unread: int = 0
    unread_bytes: int = 0
    unread_soon: int = 0


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """What Claude Code deletes below all roots; `kept` counts sessions that only the index has any more."""

    exposures: Sequence[Exposure]
    kept: int = 0

    @property
    def is_calm(self) -> bool:
        """Whether there is nothing to warn of: all is kept for long, or there is nothing to delete."""
        return all(one.policy.is_calm or not (one.transcripts or one.policy.faults) for one in self.exposures)

    @property
    def first_due(self) -> int | None:
        """When the first transcript of all may be deleted."""
        return min((one.first_due for one in self.exposures if one.first_due is not None), default=None)
