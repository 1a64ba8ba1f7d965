"""What the resident process answers about itself, and what `serve`, `install`, `keep` and `completion` print."""

from typing import Annotated, Literal

from msgspec import Meta

from searchkit.render.wire.base import Wire


class Health(Wire, frozen=True, kw_only=True):
    """Who answers."""

    version: str
    format: int
    pid: int
    index: str
    roots: list[str]
    state: Literal["loading", "ready"]
    since: float
    requests: int
    running: int
    port: int | None


class Opened(Wire, frozen=True, kw_only=True):
    """The loopback port that is listened on, and its address."""

    port: int | None
    address: str


class Leaving(Wire, frozen=True, kw_only=True):
    """The process that ends."""

    pid: int


class Port(Wire, frozen=True, kw_only=True, forbid_unknown_fields=False):
    """The port that `serve --port` wants opened; that there is no such port is found out by opening it."""

    port: Annotated[int, Meta(extra_json_schema={"minimum": 0, "maximum": 65_535})]


class Serving(Wire, frozen=True, kw_only=True):
    """The process that serves an index, and where it is reached."""

    pid: int
    index: str
    socket: str | None
    address: str | None


class Stopped(Wire, frozen=True, kw_only=True):
    """The process that was ended, if there was one."""

    stopped: int | None


class Script(Wire, frozen=True, kw_only=True):
    """What lets a shell complete commands, options and values."""

    shell: str
    script: str


class FileChange(Wire, frozen=True, kw_only=True):
    """What changes in a file."""

    path: str
    change: str
    diff: list[str]


class Changes(Wire, frozen=True, kw_only=True):
    """What is changed below a directory, whether it was done, and where copies of the old files are."""

    target: str
    changes: list[FileChange]
    is_done: bool
    copies: str | None
