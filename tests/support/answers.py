"""What a catalog answers, in the shortest form that a test can compare."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from searchkit.backends.base import Backend, Stored
from searchkit.query.parse import understand
from searchkit.query.types import Condition, Filter
from searchkit.sources.claude import ClaudeSource
from searchkit.sources.parts import split
from searchkit.types import Change, Fact, Link, Record, Session
from tests.reference.contents import session_parts

SESSION = "11111111-1111-4111-8111-111111111111"
OTHER = "22222222-2222-4222-8222-222222222222"
THIRD = "33333333-3333-4333-8333-333333333333"


def said(backend: Backend, session: str = SESSION, agent: str | None = None) -> list[tuple[str, str]]:
    """Return kind and text of the parts of a session in order, without repeats."""
    return [(part.part.kind.value, part.part.text) for part in kept(backend, session, agent)]


def texts(backend: Backend, session: str = SESSION, agent: str | None = None) -> list[str]:
    """Return the texts of a session in order, without repeats."""
    return [part.part.text for part in kept(backend, session, agent)]


def kept(backend: Backend, session: str = SESSION, agent: str | None = None) -> list[Stored]:
    """Return the parts of a session in order, without repeats."""
    return [part for part in session_parts(backend, session, agent) if part.repeats is None]


def found(backend: Backend, words: str, limit: int = 5, **filters: str) -> list[Stored]:
    """Return the parts that answer a question, best first."""
    query = understand(words, now=datetime(2026, 6, 1, tzinfo=UTC), filters=filters.items())
    hits = backend.words.search(query, limit).hits
    return [stored for stored in backend.catalog.stored([hit.key for hit in hits]) if stored is not None]


def session_of(backend: Backend, session: str = SESSION) -> Session:
    """Return one session, which must be there."""
    return backend.catalog.named([session])[session]


def sessions_with(backend: Backend, name: str, *values: str) -> list[str]:
    """Return the ids of the sessions for which a filter holds."""
    condition = Condition(filters=(Filter(name=name, values=values),))
    return [session.id for session in backend.catalog.sessions(condition)]


def link_of(backend: Backend, uuid: str) -> Link:
    """Return one record, which must be there."""
    return backend.catalog.links([uuid])[uuid]


def facts_of(backend: Backend, name: str, session: str = SESSION) -> list[tuple[str | None, str]]:
    """Return agent and value of the facts of that name."""
    return [(fact.agent, fact.value) for fact in backend.catalog.facts(session) if fact.name == name]


def problems_of(backend: Backend, kind: str) -> list[tuple[str, int]]:
    """Return base name and line of what is wrong in that way."""
    return [(Path(finding.file).name, finding.line) for finding in backend.findings() if finding.kind == kind]


def read(root: Path, seen: dict[str, bytes] | None = None) -> list[Change]:
    """Read what is new below a root, and remember in `seen` how far, as a backend does."""
    seen = {} if seen is None else seen
    changes = list(ClaudeSource([root]).changes(dict(seen)))
    for change in changes:
        if change.moved_from is not None:
            seen.pop(change.moved_from, None)
        if change.checkpoint is not None:
            seen[change.file] = change.checkpoint
    return changes


def records_of(changes: Iterable[Change]) -> list[Record]:
    """Return the records of all changes."""
    return [record for change in changes for record in change.records]


def facts_in(changes: Iterable[Change], name: str) -> list[Fact]:
    """Return the facts of that name in all changes."""
    return [fact for change in changes for fact in change.facts if fact.name == name]


def spoken(changes: Iterable[Change]) -> list[tuple[str, str, str]]:
    """Return kind, role and text of every part that all changes hold, copies and repeats included."""
    return [(part.kind.value, part.role.value, part.text) for record in records_of(changes) for part in split(record)]


def noise_in(changes: Iterable[Change]) -> dict[str, int]:
    """Add up what was kept out, by reason."""
    counted: dict[str, int] = {}
    for change in changes:
        for reason, number in change.left_out.items():
            counted[reason] = counted.get(reason, 0) + number
    return counted


def complaints(changes: Sequence[Change]) -> list[tuple[str, str, int]]:
    """Return what is wrong: its kind, the base name of the file, the line."""
    return [(problem.kind, Path(change.file).name, problem.line) for change in changes for problem in change.problems]
