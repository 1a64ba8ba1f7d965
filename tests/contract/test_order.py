"""Whatever order changes come in and however they are batched, a backend ends the same, and every backend alike."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from searchkit.backends.base import Backend
from searchkit.backends.local.backend import LocalBackend
from searchkit.types import Change, Context, Kind, Origin, Record, Standing, Touch, Usage
from tests.contract.small import A, B, batch, contents, conversations, fact, progress, queued, record, uuid
from tests.reference import ReferenceBackend
from tests.reference.fingerprint import digest

EXAMPLES = 10
TEXTS = ("one", "two")

# What may happen in a corpus besides copies, repeats and stand-ins; each is tried alone and with all others.
HAPPENINGS = ("forks", "other texts", "other sessions", "replaced transcripts", "documents", "settling between")


class File(msgspec.Struct, frozen=True):
    """A file of the little world, and the session that is written into its records."""

    path: str
    origin: Origin
    session: str | None
    agent: str | None = None


TRANSCRIPTS = (
    File("/p/a.jsonl", Origin(kind="session", session=A), A),
    File("/p/a.jsonl.backup", Origin(kind="session", session=A, is_copy=True), A),
    File("/p/b.jsonl", Origin(kind="session", session=B), B),
    File("/p/agent-x.jsonl", Origin(kind="agent", session=A, agent="x"), A, "x"),
    File("/p/agent-acompact-y.jsonl", Origin(kind="agent", session=A, agent="y", is_copy=True), A, "y"),
)
DOCUMENTS = (
    File("/todos/a.json", Origin(kind="todo", session=A, is_document=True), A),
    File("/todos/index.json", Origin(kind="sessions-index", is_document=True), A),
    File("/plans/b.md", Origin(kind="plan", is_document=True), None),
)


@st.composite
def histories(draw: st.DrawFn, happenings: frozenset[str]) -> list[list[Change]]:
    """Draw what happens to each file, in the order in which it does."""
    histories = [_history(draw, file, happenings) for file in TRANSCRIPTS]
    if "documents" in happenings:
        histories += [_versions(draw, file) for file in DOCUMENTS]
    return histories


@st.composite
def orders(draw: st.DrawFn, histories: list[list[Change]], is_settled: bool) -> list[list[Change] | None]:
    """Draw batches in which files take turns, each in its own order; None is a time to settle."""
    turns = draw(st.permutations([number for number, history in enumerate(histories) for _ in history]))
    left = [iter(history) for history in histories]
    order: list[list[Change] | None] = []
    current: list[Change] = []
    for turn in turns:
        change = next(left[turn])
        # One reading of a source never tells of the same file's beginning twice, and a batch never spans two.
        is_again = change.is_restart and change.file in {item.file for item in current}
        if current and (is_again or draw(st.booleans())):
            order.append(current)
            current = []
            if is_settled and draw(st.booleans()):
                order.append(None)
        current.append(change)
    return [*order, current, None] if current else [*order, None]


each_alone_and_all = pytest.mark.parametrize(
    "happenings",
    [frozenset[str](), *(frozenset({item}) for item in HAPPENINGS), frozenset(HAPPENINGS)],
    ids=["nothing else", *HAPPENINGS, "everything"],
)
bounded = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    # Shrinking a failure takes a minute; add Phase.shrink to look into one.
    phases=[Phase.generate],
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow],
)


@each_alone_and_all
@bounded
@given(data=st.data())
def test_any_order_ends_the_same(happenings: frozenset[str], data: st.DataObject) -> None:
    """Two orders of the same changes end in the same contents, in memory, on disk, and in both alike."""
    drawn = data.draw(histories(happenings))
    is_settled = "settling between" in happenings
    one, other = (data.draw(orders(drawn, is_settled)) for _ in range(2))

    with local() as first, local() as second:
        reference = told(ReferenceBackend(), one)
        kept = [contents(told(backend, order)) for backend, order in ((first, one), (second, other))]
        digests = {digest(backend) for backend in (reference, first, second)}
        talks = [conversations(backend) for backend in (first, second)]

    assert contents(reference) == contents(told(ReferenceBackend(), other))
    assert contents(reference) == kept[0]
    assert contents(reference) == kept[1]
    assert 1 == len(digests)
    assert conversations(reference) == talks[0]
    assert conversations(reference) == talks[1]


@bounded
@given(data=st.data())
def test_forgetting_leaves_the_same(data: st.DataObject) -> None:
    """Whatever a session shares with another, both backends forget the same."""
    happenings = frozenset({"forks", "other sessions", "documents"})
    order = data.draw(orders(data.draw(histories(happenings)), False))
    forgotten = data.draw(st.sampled_from((A, B)))

    with local() as backend:
        left = []
        for item in (ReferenceBackend(), backend):
            told(item, order).forget([forgotten])
            item.catalog.settle()
            left.append(contents(item))

    assert left[0] == left[1]


@contextmanager
def local() -> Iterator[LocalBackend]:
    """Open an empty backend on disk."""
    with TemporaryDirectory() as directory:
        backend = LocalBackend(Path(directory) / "index", is_writable=True)
        try:
            yield backend
        finally:
            backend.close()


def told(backend: Backend, order: Sequence[list[Change] | None]) -> Backend:
    """Write batches and settle, in order."""
    for changes in order:
        if changes is None:
            backend.catalog.settle()
        else:
            backend.catalog.write(batch(*changes))
    return backend


def _history(draw: st.DrawFn, file: File, happenings: frozenset[str]) -> list[Change]:
    """Draw the growth of a transcript, which may be replaced on the way."""
    changes: list[Change] = []
    line = 0
    for number in range(draw(st.integers(0, 3))):
        is_restart = not changes or ("replaced transcripts" in happenings and draw(st.booleans()))
        line = 0 if is_restart else line
        records = []
        for _ in range(draw(st.integers(0, 3))):
            line += 1
            records.append(_record(draw, line, file, happenings))
        facts = [fact("branch", draw(st.sampled_from(TEXTS)), line, session=file.session or A)]
        changes.append(_change(file, records, number, is_restart, facts=facts))
    return changes


def _record(draw: st.DrawFn, line: int, file: File, happenings: frozenset[str]) -> Record:
    """Draw a record of few uuids; but for what may happen, a uuid says the same wherever it is."""
    number = draw(st.integers(1, 9))
    is_shared = file.session == A or "forks" in happenings
    text = draw(st.sampled_from(TEXTS)) if "other texts" in happenings else TEXTS[number % 2]
    session = draw(st.sampled_from((A, B))) if "other sessions" in happenings else file.session
    made = _said(number, line, text, "toolu_a" if is_shared else "toolu_b")
    # A copy agent's file holds records of one session only.
    is_lower = file.agent == "y" and "other sessions" not in happenings
    return msgspec.structs.replace(
        made,
        uuid=made.uuid if is_shared else made.uuid.replace("0000-4", "00bb-4"),
        session=session,
        agent=file.agent,
        standing=max(made.standing, Standing.COPY) if is_lower else made.standing,
        is_forked="forks" in happenings and file.session == B and draw(st.booleans()),
        context=Context(cwd="/src", branch=TEXTS[number % 2]),
    )


def _said(number: int, line: int, text: str, call: str) -> Record:
    match number:
        case 1 | 2 | 3:
            return record(number, line, text, touches=[Touch(path=f"/{number}", action="read")])
        case 4:
            return queued(number, line, text, is_link=False)
        case 5:
            return queued(number, line, text, parent=uuid(99), time=None)
        case 6:
            usage = Usage(output=number)
            return record(number, line, text, text, kind=Kind.TEXT, response="msg_1", usage=usage, type="assistant")
        case 7:
            return record(number, line, text, kind=Kind.TOOL_RESULT, call=call, tool="Bash", source_call=uuid(6))
        case _:
            return progress(number, line, f"{number} %", call if number == 8 else f"{call}2")


def _versions(draw: st.DrawFn, file: File) -> list[Change]:
    """Draw versions of a document: each says one thing, or nothing."""
    changes = []
    for number in range(draw(st.integers(0, 3))):
        text = draw(st.sampled_from((*TEXTS, "")))
        kind = {"todo": Kind.TODO, "plan": Kind.PLAN}.get(file.origin.kind, Kind.HISTORY)
        standing = Standing.SIDE if kind is Kind.HISTORY else Standing.ORIGINAL
        name = 100 + 10 * DOCUMENTS.index(file) + len(text and TEXTS[: TEXTS.index(text) + 1])
        said = record(name, 1, text, kind=kind, session=file.session, standing=standing, is_link=False)
        changes.append(_change(file, [said] if text else [], number, True))
    return changes


def _change(file: File, records: list[Record], number: int, is_restart: bool, **fields: object) -> Change:
    change = Change(
        file=file.path,
        origin=file.origin,
        checkpoint=f"{file.path} {number}".encode(),
        records=records,
        is_restart=is_restart,
        bytes_read=10 * len(records),
    )
    return msgspec.structs.replace(change, **fields)
