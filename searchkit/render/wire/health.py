"""What `index`, `status`, `doctor`, `serve`, `install`, `keep` and `completion` print with `--json`."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from searchkit import types
from searchkit.render.health import KEEP, Group, summary, worst
from searchkit.render.health import retention as sentences
from searchkit.render.wire.base import Time, Wire
from searchkit.search import types as searches
from searchkit.text.format import stamp

if TYPE_CHECKING:
    from searchkit.indexing import ingest


class Unread(Wire, frozen=True, kw_only=True):
    """Transcripts that are not indexed yet."""

    transcripts: int
    bytes: int


class SettingsFault(Wire, frozen=True, kw_only=True):
    """What is wrong with a file of settings."""

    file: str
    message: str
    hint: str


class Root(Wire, frozen=True, kw_only=True):
    """What Claude Code deletes below one root, and when."""

    root: str
    settings: str
    days: int
    is_set: bool
    faults: list[SettingsFault]
    last_sweep: Time
    transcripts: int
    first_due: Time
    overdue: int
    unread: Unread


class Retention(Wire, frozen=True, kw_only=True):
    """What Claude Code deletes and when, how much of it is not indexed, and what to change."""

    is_calm: bool
    first_due: Time
    overdue: int
    unread: Unread
    kept: int
    setting: str
    command: str | None
    sentences: list[str]
    roots: list[Root]


class Behind(Wire, frozen=True, kw_only=True):
    """What is newer than the index."""

    files: int
    bytes: int


class Meaning(Wire, frozen=True, kw_only=True):
    """How much is found by meaning, and how much there is; and of that, how much in and across other languages."""

    embedded: int
    to_embed: int
    embedded_multilingual: int
    to_embed_multilingual: int


class Resident(Wire, frozen=True, kw_only=True):
    """The process that serves the index."""

    pid: int
    port: int | None


class Status(Wire, frozen=True, kw_only=True):
    """What is indexed and how far."""

    index: str
    roots: list[str]
    counts: dict[str, Any]
    index_bytes: int
    behind: Behind | None
    meaning: Meaning
    unreachable: str | None
    damage: str | None
    retention: Retention | None
    resident: Resident | UnsetType | None = UNSET


class FindingGroup(Wire, frozen=True, kw_only=True):
    """A kind of finding: how many there are, what it means, and what to do."""

    kind: str
    verdict: str
    count: int
    meaning: str
    advice: str


class Finding(Wire, frozen=True, kw_only=True):
    """One finding, and where."""

    kind: str
    file: str
    line: int
    detail: str
    verdict: str


class Examination(Wire, frozen=True, kw_only=True):
    """The verdict over transcripts and index, each kind of finding, and every place."""

    verdict: str
    summary: str
    groups: list[FindingGroup]
    findings: list[Finding]
    retention: Retention | None


class Summary(Wire, frozen=True, kw_only=True):
    """What a run of `index` did."""

    files: int
    bytes: int
    records: int
    gone: int
    apps: dict[str, int]
    skipped: dict[str, int]
    left_out: dict[str, int]
    failures: list[str]
    embedded: int
    outdated: bool
    seconds: float


def summary_of(done: "ingest.Summary", seconds: float) -> Summary:
    """Make what a run of `index` did."""
    return Summary(
        files=done.files,
        bytes=done.bytes,
        records=done.records,
        gone=done.gone,
        apps=dict(done.apps),
        skipped=dict(done.skipped),
        left_out=dict(done.left_out),
        failures=list(done.failures),
        embedded=done.embedded,
        outdated=done.is_outdated,
        seconds=round(seconds, 2),
    )


def status(found: searches.Status, resident: Resident | UnsetType | None = UNSET) -> Status:
    """Make what is indexed and how far; over HTTP the process does not name itself."""
    return Status(
        index=found.index,
        roots=list(found.roots),
        counts=msgspec.to_builtins(found.counts),
        index_bytes=found.index_bytes,
        behind=None if found.unreachable else Behind(files=found.files_behind, bytes=found.bytes_behind),
        meaning=Meaning(
            embedded=found.embedded,
            to_embed=found.to_embed,
            embedded_multilingual=found.embedded_multilingual,
            to_embed_multilingual=found.to_embed_multilingual,
        ),
        unreachable=found.unreachable,
        damage=found.damage,
        retention=None if found.retention is None else retention(found.retention),
        resident=resident,
    )


def resident(running: Mapping[str, Any] | None) -> Resident | None:
    """Make the process that serves, of what it says of itself."""
    return Resident(pid=running["pid"], port=running["port"]) if running else None


def retention(found: types.Retention) -> Retention:
    """Make what Claude Code deletes."""
    return Retention(
        is_calm=found.is_calm,
        first_due=stamp(found.first_due),
        overdue=sum(one.overdue for one in found.exposures),
        unread=Unread(
            transcripts=sum(one.unread for one in found.exposures),
            bytes=sum(one.unread_bytes for one in found.exposures),
        ),
        kept=found.kept,
        setting=types.SETTING,
        command=None if found.is_calm else KEEP,
        sentences=sentences(found),
        roots=[_root(one) for one in found.exposures],
    )


def examination(grouped: Sequence[Group], found: Sequence[types.Finding], kept: types.Retention | None) -> Examination:
    """Make the verdict, each kind, and every place."""
    verdicts = {group.kind: group.diagnosis.verdict.value for group in grouped}
    return Examination(
        verdict=worst(grouped).value,
        summary=summary(grouped),
        groups=[
            FindingGroup(
                kind=group.kind,
                verdict=group.diagnosis.verdict.value,
                count=len(group.findings),
                meaning=group.diagnosis.meaning,
                advice=group.diagnosis.advice,
            )
            for group in grouped
        ],
        findings=[
            Finding(
                kind=finding.kind,
                file=finding.file,
                line=finding.line,
                detail=finding.detail,
                verdict=verdicts[finding.kind],
            )
            for finding in found
        ],
        retention=None if kept is None else retention(kept),
    )


def _root(one: types.Exposure) -> Root:
    policy = one.policy
    return Root(
        root=policy.root,
        settings=policy.settings,
        days=policy.days,
        is_set=policy.is_set,
        faults=[SettingsFault(file=fault.file, message=fault.message, hint=fault.hint) for fault in policy.faults],
        last_sweep=stamp(policy.last_sweep),
        transcripts=one.transcripts,
        first_due=stamp(one.first_due),
        overdue=one.overdue,
        unread=Unread(transcripts=one.unread, bytes=one.unread_bytes),
    )


# What the resident process answers about itself, and what `serve`, `install`, `keep` and `completion` print.


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


class SecretPlace(Wire, frozen=True, kw_only=True):
    """Where a secret lies: the session, the part, what kind it is, and its mask."""

    session: str | None
    part: str
    kind: str
    mark: str


class Secrets(Wire, frozen=True, kw_only=True):
    """The secrets that the index holds, and whether they were taken out."""

    secrets: list[SecretPlace]
    is_forgotten: bool


def secrets_of(places: Sequence[types.SecretPlace]) -> Secrets:
    """Make a list of where secrets lie."""
    return pruned_secrets(places, is_done=False)


def pruned_secrets(places: Sequence[types.SecretPlace], is_done: bool) -> Secrets:
    """Make a list of where secrets lie, or lay before they were taken out."""
    listed = [SecretPlace(session=one.session, part=one.part, kind=one.kind, mark=one.mark) for one in places]
    return Secrets(secrets=listed, is_forgotten=is_done)
