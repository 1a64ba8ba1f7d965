"""What every backend promises, whatever it is made of."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from searchkit.backends.base import Backend, Entry
from searchkit.backends.local.backend import LocalBackend
from searchkit.backends.local.words.index import Keyword
from searchkit.query.types import Condition
from searchkit.types import Context, Kind, Origin, Problem, Record, Standing, Tally, Touch, Usage
from tests.contract.small import (
    A,
    B,
    C,
    agent,
    batch,
    change,
    contents,
    document,
    fact,
    ids,
    link,
    numbers,
    places,
    progress,
    queued,
    record,
    texts,
    told,
    torn,
    transcript,
    uuid,
)
from tests.reference.contents import children, neighbours, session_parts
from tests.reference.fingerprint import digest
from tests.support.answers import found


def bytes_on_disk(directory: Path) -> bytes:
    """Return all that lies in an index, of every file in it."""
    return b"".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def test_batch_written_twice_is_written_once(backend: Backend) -> None:
    """Writing a batch again changes nothing."""
    written = batch(
        transcript("a", record(1, 1, "one"), queued(2, 2, "one"), is_restart=True, facts=[fact("slug", "x")]),
        transcript("b", record(1, 1, "one", session=B, is_forked=True), record(3, 2, "three", session=B)),
        document("todo", record(4, 1, "four", kind=Kind.TODO, is_link=False)),
    )

    backend.catalog.write(written)
    backend.catalog.settle()
    once = contents(backend)
    backend.catalog.write(written)
    backend.catalog.settle()

    assert once == contents(backend)


def test_continuation_written_twice_is_counted_once(backend: Backend) -> None:
    """A tally is that of the file so far, so a change that reads on counts once, however often it is written."""
    written = batch(
        transcript("a", record(2, 2, "two"), problems=torn(3), tally=Tally(lines=3, torn=1, noise={"warmup": 1})),
        transcript("a", record(3, 4, "three"), tally=Tally(bytes=300, lines=4, torn=1, noise={"warmup": 1})),
    )
    told(backend, transcript("a", record(1, 1, "one"), is_restart=True))

    backend.catalog.write(written)
    backend.catalog.write(written)

    counts = backend.catalog.counts()
    assert (4, 1, 300) == (counts.lines, counts.torn, counts.bytes)
    assert {"warmup": 1} == counts.noise
    assert [3] == [finding.line for finding in backend.findings() if finding.kind == "torn line"]


def test_batch_is_kept_whole_or_not_at_all(backend: Backend) -> None:
    """A batch that fails half way leaves everything as it was."""
    told(backend, transcript("a", record(1, 1, "one")))
    before = contents(backend)
    entry = batch(transcript("b", record(2, 1, "two", session=B)))[0]
    broken = Entry(change=transcript("c", record(3, 1, "three", session=C)), parts=[])

    with pytest.raises(ValueError, match="zip"):
        backend.catalog.write([entry, broken])

    assert before == contents(backend)


def test_backend_goes_on_after_a_batch_that_failed(backend: Backend) -> None:
    """What a failed batch was the first to name can be written by the next."""
    entry = batch(transcript("b", record(2, 1, "two", session=B, agent="x"), facts=[fact("slug", "s", session=B)]))[0]
    broken = Entry(change=transcript("c", record(3, 1, "three", session=C)), parts=[])

    with pytest.raises(ValueError, match="zip"):
        backend.catalog.write([entry, broken])
    backend.catalog.write([entry])

    assert ["two"] == texts(backend, B, "x")
    assert [B] == ids(backend)


def test_checkpoints_are_those_of_the_last_changes(backend: Backend) -> None:
    """A file has the checkpoint of its last change; one that could not be read has none."""
    unreadable = [Problem(kind="unreadable", line=0, detail="Permission denied")]

    told(
        backend,
        transcript("a", record(1, 1, "one"), checkpoint=b"first"),
        transcript("a", record(2, 2, "two"), checkpoint=b"second"),
        transcript("b", checkpoint=None, problems=unreadable),
    )

    assert {"/p/a.jsonl": b"second"} == backend.catalog.checkpoints()


def test_file_that_becomes_readable_is_no_finding(backend: Backend) -> None:
    """That a file could not be read is said once, and no longer once it was read."""
    unreadable = [Problem(kind="unreadable", line=0, detail="Permission denied")]
    told(backend, *[transcript("a", checkpoint=None, problems=unreadable)] * 2)
    before = [finding.kind for finding in backend.findings()]

    told(backend, transcript("a", record(1, 1, "one")))

    assert ["unreadable"] == before
    assert "unreadable" not in [finding.kind for finding in backend.findings()]


def test_reader_sees_whole_batches_only(local: LocalBackend, tmp_path: Path) -> None:
    """While a batch is written, one who reads sees nothing of it; then he sees all of it."""
    told(local, transcript("a", record(1, 1, "one")))
    seen: list[list[str]] = []

    class Watched(list[Entry]):
        """A batch that looks at the index whenever its writer has come to its end."""

        def __iter__(self) -> Iterator[Entry]:
            yield from super().__iter__()
            seen.append(contents(reader))

    with closing(LocalBackend(tmp_path / "index")) as reader:
        before = contents(reader)
        written = batch(transcript("b", record(2, 1, "two", session=B)), transcript("c", record(3, 1, "c", session=C)))
        local.catalog.write(Watched(written))
        after = contents(reader)

    assert seen
    assert all(before == item for item in seen)
    assert [uuid(1), uuid(2), uuid(3)] == sorted({line.split("uuid='")[1][:36] for line in after if "uuid='" in line})


@pytest.mark.parametrize("is_reversed", [False, True])
def test_home_is_the_best_place_whichever_came_first(backend: Backend, is_reversed: bool) -> None:
    """An original is a better home than a fork, and a fork than a copy."""
    changes = [
        agent("acompact-1", record(1, 1, "one", agent="acompact-1", standing=Standing.COPY), is_copy=True),
        transcript("b", record(1, 7, "one", session=B, is_forked=True)),
        transcript("z", record(1, 3, "one")),
    ]

    told(backend, *(reversed(changes) if is_reversed else changes))

    assert [("z.jsonl", 3, A), ("agent-acompact-1.jsonl", 1, A), ("b.jsonl", 7, B)] == places(backend, 1)
    assert Standing.ORIGINAL is link(backend, 1).standing


@pytest.mark.parametrize("is_reversed", [False, True])
def test_links_are_those_of_the_home(backend: Backend, is_reversed: bool) -> None:
    """Parent, time, context and the rest of a record are what its home says."""
    here: dict[str, Any] = {
        "parent": uuid(70),
        "time": 5,
        "type": "user",
        "context": Context(branch="main"),
        "response": "m1",
    }
    there: dict[str, Any] = {
        "parent": uuid(80),
        "time": 6,
        "type": "system",
        "context": Context(branch="side"),
        "is_boundary": True,
    }
    changes = [transcript("a", record(1, 1, "one", **here)), transcript("b", record(1, 1, "one", session=B, **there))]

    told(backend, *(reversed(changes) if is_reversed else changes))

    found = link(backend, 1)
    assert (uuid(70), 5, "user", "main") == (found.parent, found.time, found.type, found.context.branch)
    assert not found.is_boundary
    assert found.response is not None


def test_record_of_one_uuid_on_two_lines_has_two_places(backend: Backend) -> None:
    """The same line twice in a file is one record and one part; the first line is its home."""
    told(backend, transcript("a", record(1, 4, "one"), record(1, 2, "one")))

    assert [("a.jsonl", 2, A), ("a.jsonl", 4, A)] == places(backend, 1)
    assert ["one"] == texts(backend)
    assert 1 == backend.catalog.counts().links


def test_copy_whose_original_never_comes_is_the_part(backend: Backend) -> None:
    """A record known only from a copy is found there."""
    told(backend, agent("acompact-1", record(1, 1, "one", agent="acompact-1", standing=Standing.COPY), is_copy=True))

    stored = backend.catalog.part(f"{uuid(1)}#0")

    assert stored is not None
    assert stored.repeats is None
    assert Standing.COPY is stored.link.standing


@pytest.mark.parametrize("is_reversed", [False, True])
def test_record_belongs_to_the_sessions_of_all_its_places(backend: Backend, is_reversed: bool) -> None:
    """A part that a fork shares is one part, in both sessions."""
    changes = [
        transcript("a", record(1, 1, "one"), record(2, 2, "two")),
        transcript("b", record(1, 1, "one", session=B, is_forked=True), record(3, 2, "three", session=B)),
    ]

    told(backend, *(reversed(changes) if is_reversed else changes))

    assert ["one", "two"] == texts(backend, A)
    assert ["one", "three"] == texts(backend, B)
    assert {"prompt": 3} == backend.catalog.counts().parts


@pytest.mark.parametrize("names", ["ab", "ba", "a", "b"])
def test_record_that_names_another_session_than_its_file_is_in_both(backend: Backend, names: str) -> None:
    """A fork that keeps the old session's id on its records holds them for both sessions."""
    changes = {"a": transcript("a", record(1, 1, "one")), "b": transcript("b", record(1, 5, "one", session=A))}

    told(backend, *(changes[name] for name in names))

    own = [("a.jsonl", 1, A)] if "a" in names else []
    fork = [("b.jsonl", 5, A), ("b.jsonl", 5, B)] if "b" in names else []
    assert own + fork == places(backend, 1)
    assert (["one"] if fork else []) == texts(backend, B)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_texts_under_one_uuid_are_variants(backend: Backend, is_reversed: bool) -> None:
    """Another text under the same uuid and block is another part; which is the plain one does not depend on order."""
    changes = [transcript("a", record(1, 1, "one")), transcript("b", record(1, 1, "another", session=B))]

    told(backend, *(reversed(changes) if is_reversed else changes))

    found = {stored.part.digest: stored for stored in session_parts(backend, A)}
    smallest, largest = sorted(found)
    assert {"one", "another"} == {stored.part.text for stored in found.values()}
    assert f"{uuid(1)}#0" == found[smallest].id
    assert f"{uuid(1)}#0.{largest & 0xFFFFFFFF:x}" == found[largest].id
    for stored in found.values():
        assert stored == backend.catalog.part(stored.id)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_part_is_told_as_the_place_nearest_home_tells_it(backend: Backend, is_reversed: bool) -> None:
    """A copy that does not hold the call, and so does not know the tool, does not take the tool away."""
    result: dict[str, Any] = {"kind": Kind.TOOL_RESULT, "call": "toolu_1"}
    changes = [
        transcript("a", record(1, 1, "done", tool="Bash", **result)),
        transcript("b", record(1, 1, "done", session=B, is_forked=True, **result)),
    ]

    told(backend, *(reversed(changes) if is_reversed else changes))

    (stored,) = session_parts(backend, A)
    assert "Bash" == stored.part.tool


@pytest.mark.parametrize("is_one_batch", [False, True])
def test_places_of_one_batch_merge_like_those_of_several(backend: Backend, is_one_batch: bool) -> None:
    """Texts and standings of a record that comes again and again merge the same within a batch."""
    copies = [record(1, line, text, agent="acompact-1", standing=Standing.COPY) for line, text in enumerate("abcd", 1)]
    changes = [
        agent("acompact-1", *copies, is_copy=True),
        transcript("b", record(1, 1, "e", session=B, is_forked=True)),
        transcript("a", record(1, 1, "f"), *(record(number, number, text) for number, text in enumerate("abcdef", 2))),
    ]

    for written in [batch(*changes)] if is_one_batch else [batch(item) for item in changes]:
        backend.catalog.write(written)
    backend.catalog.settle()

    found = {stored.part.digest: stored for stored in session_parts(backend, A) if stored.part.uuid == uuid(1)}
    names = {f"{uuid(1)}#0" if key == min(found) else f"{uuid(1)}#0.{key & 0xFFFFFFFF:x}" for key in found}
    assert names == {stored.id for stored in found.values()}
    assert ({"prompt": 12}, 0) == (backend.catalog.counts().parts, backend.catalog.counts().repeats)


def test_unknown_ids_are_nothing(backend: Backend) -> None:
    """What is not there is left out or None; a name that is no id is not an error."""
    told(backend, transcript("a", record(1, 1, "one")))

    assert backend.catalog.part(f"{uuid(9)}#0") is None
    assert backend.catalog.part("no id") is None
    assert {} == backend.catalog.links([uuid(9), "no uuid"])
    assert [] == children(backend, uuid(9))
    assert [] == neighbours(backend, uuid(9), 1, 1)
    assert [] == list(session_parts(backend, "nobody"))
    assert [] == backend.catalog.facts("nobody")


def test_record_without_a_real_uuid_is_kept_as_it_is(backend: Backend) -> None:
    """Any string serves as a uuid."""
    told(backend, transcript("a", record(1, 1, "one", uuid="so-called#1"), record(2, 2, "two", parent="so-called#1")))

    assert [2] == numbers(children(backend, "so-called#1"))
    stored = backend.catalog.part("so-called#1#0")
    assert stored is not None
    assert "one" == stored.part.text


def test_children_come_in_order_of_their_homes(backend: Backend) -> None:
    """The records below one are found, also when they came before it, also across files."""
    told(
        backend,
        transcript("b", record(5, 2, "five", session=B, parent=uuid(1))),
        transcript("a", record(3, 3, "three", parent=uuid(1)), record(2, 2, "two", parent=uuid(1))),
        transcript("a", record(1, 1, "one", parent=None)),
    )

    assert [2, 3, 5] == numbers(children(backend, uuid(1)))
    assert uuid(1) == link(backend, 5).parent


def test_parent_that_never_comes_is_still_named(backend: Backend) -> None:
    """A record keeps the uuid of a parent that nobody has seen, and is found below it."""
    told(backend, transcript("a", record(2, 2, "two", parent=uuid(1), source_call=uuid(1), logical_parent=uuid(7))))

    found = link(backend, 2)
    assert (uuid(1), uuid(1), uuid(7)) == (found.parent, found.source_call, found.logical_parent)
    assert [2] == numbers(children(backend, uuid(1)))


def test_neighbours_are_the_lines_around_a_record(backend: Backend) -> None:
    """The records at home around one come in line order; those that are only copied there do not."""
    told(
        backend,
        transcript("a", record(9, 1, "home elsewhere")),
        transcript("b", record(9, 2, "home elsewhere", session=B, is_forked=True)),
        transcript("b", *(record(number, number, str(number), session=B) for number in (6, 3, 5, 4, 7))),
    )

    assert [4, 5, 6] == numbers(neighbours(backend, uuid(5), 1, 1))
    assert [3, 4, 5] == numbers(neighbours(backend, uuid(5), 9, 0))
    assert [5, 6, 7] == numbers(neighbours(backend, uuid(5), 0, 9))


def test_records_come_in_the_order_of_their_keys(backend: Backend) -> None:
    """A record that is asked for by a key that nothing has is left out, and so are other places of a copied one."""
    told(
        backend,
        transcript("a", record(1, 1, "one"), record(2, 2, "two", "two and a half")),
        transcript("b", record(1, 7, "one", session=B, is_forked=True)),
    )
    first, second = backend.catalog.record(uuid(1)), backend.catalog.record(uuid(2))
    assert first is not None
    assert second is not None

    found = backend.catalog.nodes([second, 10**9, first])

    assert [uuid(2), uuid(1)] == [node.uuid for node in found]
    assert [2, 1] == [node.line for node in found]
    assert [2, 1] == [len(node.steps) for node in found]


def test_parts_of_a_session_come_in_order(backend: Backend) -> None:
    """Parts come by file, line and block; those of agents only where the agent is asked for."""
    told(
        backend,
        agent("x", record(4, 1, "four", agent="x")),
        transcript("a", record(3, 3, "three"), record(2, 2, "two", "two and a half")),
        transcript("a", record(1, 1, "one"), record(5, 4, agent=None)),
    )

    assert ["one", "two", "two and a half", "three"] == texts(backend, A)
    assert ["four"] == texts(backend, A, "x")
    assert [] == texts(backend, A, "y")


@pytest.mark.parametrize("is_reversed", [False, True])
def test_secondary_part_repeats_the_primary_one_of_its_session(backend: Backend, is_reversed: bool) -> None:
    """What the queue repeats of a prompt is kept, marked, and not counted as a part."""
    changes = [transcript("a", record(1, 1, "one"), record(2, 2, "one")), transcript("a", queued(3, 3, "one"))]

    for item in reversed(changes) if is_reversed else changes:
        told(backend, item)

    repeats = {stored.id: stored.repeats for stored in session_parts(backend, A)}
    assert {f"{uuid(1)}#0": None, f"{uuid(2)}#0": None, f"{uuid(3)}#0": f"{uuid(1)}#0"} == repeats
    assert ({"prompt": 2}, 1) == (backend.catalog.counts().parts, backend.catalog.counts().repeats)


@pytest.mark.parametrize("order", ["ab", "ba"])
@pytest.mark.parametrize("is_settled_between", [False, True])
def test_part_repeats_what_a_fork_shares(backend: Backend, order: str, is_settled_between: bool) -> None:
    """A fork holds the prompts it was forked with, so what its own queue repeats of them is a repeat."""
    fork = [record(1, 1, "one", session=B, is_forked=True), queued(2, 2, "one", session=B)]
    changes = {"a": transcript("a", record(1, 1, "one")), "b": transcript("b", *fork)}

    for name in order:
        backend.catalog.write(batch(changes[name]))
        if is_settled_between:
            backend.catalog.settle()
    backend.catalog.settle()

    stored = backend.catalog.part(f"{uuid(2)}#0")
    assert stored is not None
    assert f"{uuid(1)}#0" == stored.repeats


def test_same_text_in_another_session_is_no_repeat(backend: Backend) -> None:
    """Sessions that share no record repeat nothing of each other."""
    told(backend, transcript("a", record(1, 1, "one")), transcript("b", queued(2, 1, "one", session=B)))

    assert 0 == backend.catalog.counts().repeats


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_every_text_of_a_record_stands_as_high_as_its_best_place(backend: Backend, order: str) -> None:
    """A text that only a copy has is as original as the record, whichever came first."""
    copy = record(1, 1, "another", agent="acompact-1", standing=Standing.COPY)
    changes = {
        "a": transcript("a", record(1, 1, "one"), record(2, 2, "another")),
        "b": agent("acompact-1", copy, is_copy=True),
    }

    told(backend, *(changes[name] for name in order))

    assert {"prompt": 3} == backend.catalog.counts().parts


def test_part_that_turns_out_to_be_original_is_no_repeat(backend: Backend) -> None:
    """What seemed a repeat among copies is none once the originals come."""
    copies = [record(number, number, "one", agent="acompact-1", standing=Standing.COPY) for number in (1, 2)]
    told(backend, agent("acompact-1", *copies, is_copy=True))
    before = backend.catalog.counts().repeats

    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "one")))

    assert (1, 0) == (before, backend.catalog.counts().repeats)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_one_stand_in_of_a_call_stays(backend: Backend, is_reversed: bool) -> None:
    """Of all that stands in for a result the last stays, also where a copy has another text of an earlier one."""
    changes = [
        transcript("a", progress(1, 1, "10 %", "toolu_1")),
        agent("acompact-1", progress(1, 1, "15 %", "toolu_1", agent="acompact-1"), is_copy=True),
        transcript("a", progress(2, 2, "20 %", "toolu_1"), checkpoint=b"end"),
    ]

    told(backend, *(reversed(changes) if is_reversed else changes))

    assert ["20 %"] == texts(backend)


def test_stand_in_goes_when_the_result_comes(backend: Backend) -> None:
    """What a call has printed so far counts until its result comes; of several the last."""
    told(backend, transcript("a", progress(1, 1, "10 %", "toolu_1"), progress(2, 2, "20 %", "toolu_1")))
    before = texts(backend)

    told(backend, transcript("a", record(3, 3, "done", kind=Kind.TOOL_RESULT, call="toolu_1")))

    assert ["20 %"] == before
    assert ["done"] == texts(backend)
    assert [1, 2, 3] == numbers(neighbours(backend, uuid(1), 0, 9))


def test_replaced_transcript_keeps_its_records(backend: Backend) -> None:
    """Records that a rewritten file no longer has stay; the others are where they are now."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "two"), problems=torn(9)))

    told(backend, transcript("a", record(2, 5, "two"), record(3, 6, "three"), is_restart=True, checkpoint=b"new"))

    assert [("a.jsonl", -1, A)] == places(backend, 1)
    assert [("a.jsonl", 5, A)] == places(backend, 2)
    assert {"one", "two", "three"} == set(texts(backend))
    assert 6 == backend.catalog.counts().lines
    assert "torn line" not in [finding.kind for finding in backend.findings()]


@pytest.mark.parametrize("order", ["aAb", "abA", "baA"])
def test_home_moves_to_a_live_place_when_its_file_is_replaced(backend: Backend, order: str) -> None:
    """A line that is still there is a better home than one that was, whichever came first."""
    changes = {
        "a": transcript("a", record(1, 1, "one")),
        "A": transcript("a", record(2, 1, "two"), is_restart=True, checkpoint=b"new"),
        "b": transcript("b", record(1, 4, "one", session=B)),
    }

    told(backend, *(changes[name] for name in order))

    assert [("b.jsonl", 4, B), ("a.jsonl", -1, A)] == places(backend, 1)


def test_document_is_replaced(backend: Backend) -> None:
    """A new version of a document takes the place of the old one."""
    told(backend, document("todo", record(1, 1, "one", kind=Kind.TODO, is_link=False)))

    told(backend, document("todo", record(2, 1, "two", kind=Kind.TODO, is_link=False), checkpoint=b"new"))

    assert ["two"] == texts(backend)
    assert {} == backend.catalog.links([uuid(1)])


def test_what_a_replaced_document_repeated_is_judged_anew(backend: Backend) -> None:
    """When the preferred one of three equal parts goes, one of the two others takes its place."""
    listed: dict[str, Any] = {"kind": Kind.HISTORY, "standing": Standing.SIDE, "is_link": False}
    names = ("x", "y", "z")
    told(
        backend,
        *(document(name, record(number, 1, "one", **listed), session=None) for number, name in enumerate(names, 1)),
    )

    told(backend, document("x", session=None, checkpoint=b"new"))

    assert ["one"] == texts(backend)
    assert ({"history": 1}, 1) == (backend.catalog.counts().parts, backend.catalog.counts().repeats)


def test_document_that_another_file_repeats_word_for_word_moves_there(backend: Backend) -> None:
    """A record of two documents stays as long as one of them says it."""
    todo = record(1, 1, "one", kind=Kind.TODO, is_link=False)
    told(backend, document("x", todo), document("y", todo))

    told(backend, document("x", checkpoint=b"new"))

    assert [("y.json", 1, A)] == places(backend, 1)
    assert ["one"] == texts(backend)


def test_file_that_is_gone_is_remembered(backend: Backend) -> None:
    """A transcript that was deleted stays findable, and its session says so until it comes back."""
    told(backend, transcript("a", record(1, 1, "one")))
    gone = transcript("a", checkpoint=None, is_gone=True)

    told(backend, gone)
    (while_gone,) = backend.catalog.sessions(Condition())
    told(backend, transcript("a", record(2, 2, "two")))
    (when_back,) = backend.catalog.sessions(Condition())

    assert (True, False) == (while_gone.is_gone, when_back.is_gone)
    assert ["one", "two"] == texts(backend)


def test_file_never_read_can_be_gone(backend: Backend) -> None:
    """That an unknown file is gone changes nothing."""
    told(backend, transcript("a", checkpoint=None, is_gone=True))

    assert {} == backend.catalog.checkpoints()
    assert 0 == backend.catalog.counts().files


def test_moved_file_is_the_same_file(backend: Backend) -> None:
    """A file that moved takes its records, its tallies and its checkpoint along."""
    told(backend, transcript("a", record(1, 1, "one"), checkpoint=b"old"))

    told(backend, transcript("z", record(2, 2, "two"), moved_from="/p/a.jsonl", checkpoint=b"new"))

    assert [("z.jsonl", 1, A)] == places(backend, 1)
    assert {"/p/z.jsonl": b"new"} == backend.catalog.checkpoints()
    assert (1, 2) == (backend.catalog.counts().files, backend.catalog.counts().lines)
    assert ["one", "two"] == texts(backend)


def test_agent_of_the_old_layout_belongs_to_the_session_it_names(backend: Backend) -> None:
    """Where the path names no session, the records do."""
    told(backend, agent("x", record(1, 1, "one", agent="x"), session=None))

    (session,) = backend.catalog.sessions(Condition())
    assert (A, 1, False) == (session.id, session.agents, session.is_gone)
    assert (1, 1) == (backend.catalog.counts().agents, backend.catalog.counts().sessions)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_latest_fact_wins(backend: Backend, is_reversed: bool) -> None:
    """Of several values the one on the last line holds; all are kept, each with its last line."""
    facts = [fact("branch", "main", 1), fact("branch", "side", 5), fact("branch", "main", 9)]
    changes = [transcript("a", record(1, 1, "one"), facts=[item], checkpoint=item.value.encode()) for item in facts]

    told(backend, *(reversed(changes) if is_reversed else changes))

    assert [("side", 5), ("main", 9)] == [(item.value, item.line) for item in backend.catalog.facts(A)]
    assert "main" == backend.catalog.sessions(Condition())[0].branch


@pytest.mark.parametrize("is_reversed", [False, True])
def test_fact_said_twice_on_one_line_is_the_same_in_any_order(backend: Backend, is_reversed: bool) -> None:
    """Two files that name different leaves for the same fact on the same line end the same in any order."""
    facts = [fact("summary", "s", 1, leaf=uuid(1)), fact("summary", "s", 1, leaf=uuid(2)), fact("summary", "s", 1)]
    changes = [transcript("abc"[number], facts=[item]) for number, item in enumerate(facts)]

    told(backend, *(reversed(changes) if is_reversed else changes))

    assert [uuid(2)] == [item.leaf for item in backend.catalog.facts(A)]


def test_facts_of_agents_are_their_own(backend: Backend) -> None:
    """The same value of a session and of its agent are two facts."""
    told(backend, transcript("a", facts=[fact("slug", "s"), fact("slug", "s", agent="x")]))

    assert [None, "x"] == [item.agent for item in backend.catalog.facts(A)]


def test_facts_are_asked_for_by_name(backend: Backend) -> None:
    """Of a session that was asked thousands of times, nobody wants all of them."""
    told(backend, transcript("a", facts=[fact("slug", "s"), fact("branch", "main"), fact("model", "m")]))

    assert ["branch", "slug"] == [item.name for item in backend.catalog.facts(A, ("slug", "branch"))]
    assert [] == backend.catalog.facts(A, ("worktree",))


def test_calls_that_touched_files_are_the_last_of_their_tool(backend: Backend) -> None:
    """Of each file and tool one call is told; what agents and other kinds of parts touched is not."""

    def call(number: int, path: str, tool: str, **fields: Any) -> Record:
        touches = [Touch(path=path, action="read")]
        return record(number, number, f"call {number}", kind=Kind.TOOL_CALL, tool=tool, touches=touches, **fields)

    told(
        backend,
        transcript("a", call(1, "/x", "Read"), call(2, "/x", "Edit"), call(3, "/x", "Read"), call(4, "/y", "Read")),
        transcript("a", record(5, 5, "said", touches=[Touch(path="/z", action="read")])),
        agent("x", call(6, "/w", "Read", agent="x")),
    )

    found = [(step.uuid, step.path, step.tool) for step in backend.catalog.touching(A)]

    assert [(uuid(2), "/x", "Edit"), (uuid(3), "/x", "Read"), (uuid(4), "/y", "Read")] == found


TITLES = [
    (["custom-title", "ai-title", "summary", "index-summary"], "custom-title"),
    (["ai-title", "summary", "index-summary"], "ai-title"),
    (["summary", "index-summary"], "summary"),
    (["index-summary"], "index-summary"),
    ([], "the first prompt"),
]


@pytest.mark.parametrize(("names", "title"), TITLES)
def test_title_is_the_best_that_is_known(backend: Backend, names: Sequence[str], title: str) -> None:
    """A title that was given comes before one that was made, and any before the first prompt."""
    said = [record(2, 2, "later"), record(1, 1, "the  first\nprompt"), record(3, 3, "the command", kind=Kind.COMMAND)]

    told(backend, transcript("a", *said, facts=[fact(name, name) for name in names]))

    assert title == backend.catalog.sessions(Condition())[0].title


def test_summary_in_another_file_is_the_title_of_the_session_it_names(backend: Backend) -> None:
    """A summary line belongs to the session of its leaf, wherever it was written."""
    told(
        backend,
        transcript("a", record(1, 1, "one")),
        transcript(
            "b", record(2, 1, "two", session=B), facts=[fact("summary", "all about A", session=B, leaf=uuid(1))]
        ),
    )

    assert "all about A" == backend.catalog.named([A])[A].title


def test_session_counts_what_is_its_own(backend: Backend) -> None:
    """Records and prompts count where they are at home, prompts only where a person typed them."""
    told(
        backend,
        transcript("a", record(1, 1, "one"), queued(2, 2, "one"), record(3, 3, "text", kind=Kind.TEXT)),
        agent("x", record(4, 1, "four", agent="x")),
        transcript("b", record(1, 1, "one", session=B, is_forked=True), record(5, 2, "five", session=B)),
    )

    newest, oldest = backend.catalog.sessions(Condition())
    assert (B, 1, 1, 0, 1_000, 5_000) == _numbers_of(newest)
    assert (A, 4, 1, 1, 1_000, 4_000) == _numbers_of(oldest)


def test_counts_tell_what_is_kept(backend: Backend) -> None:
    """Everything is counted once: files, lines, links, sessions, agents, parts, noise, responses, touched files."""
    usage: dict[str, Any] = {"usage": Usage(input=1, output=2), "response": "msg_1"}
    touches = [Touch(path="/x", action="read"), Touch(path="/x", action="edit"), Touch(path="/y", action="read")]
    side = record(9, 1, "todo", kind=Kind.TODO, session=C, is_link=False)
    history = change("/history.jsonl", Origin(kind="history"), queued(8, 1, "one", is_link=False))
    told(
        backend,
        transcript("a", record(1, 1, "one", touches=touches), tally=Tally(lines=5, torn=2)),
        transcript(
            "a",
            record(2, 7, "text", kind=Kind.TEXT, **usage),
            record(3, 8, kind=Kind.TEXT, **usage),
            tally=Tally(bytes=400, lines=7, torn=2, noise={"warmup": 1}),
        ),
        agent("x", record(4, 1, "four", agent="x"), tally=Tally(lines=1, noise={"warmup": 2, "hook_progress": 1})),
        transcript("b", record(1, 1, "one", session=B)),
        document("todo", side, session=C),
        history,
    )

    counts = backend.catalog.counts()

    assert (3, 700) == (counts.files, counts.bytes)
    assert (10, 2, 8) == (counts.lines, counts.torn, counts.records)
    assert (4, 2, 1, 1) == (counts.links, counts.sessions, counts.sessions_without_transcript, counts.agents)
    assert ({"prompt": 2, "text": 1, "todo": 1}, 1) == (counts.parts, counts.repeats)
    assert ({"warmup": 3, "hook_progress": 1}, 1, 2) == (counts.noise, counts.responses, counts.touched)


def test_keyword_finds_what_is_no_repeat(backend: Backend) -> None:
    """A search for words finds the parts that have them."""
    told(backend, transcript("a", record(1, 1, "a zebra"), queued(2, 2, "a zebra"), record(3, 3, "a horse")))
    backend.follow()

    assert [f"{uuid(1)}#0"] == [stored.id for stored in found(backend, "zebra")]
    assert [] == found(backend, "giraffe")


def test_digest_tells_contents_apart(backend: Backend) -> None:
    """Any difference that can be asked for makes another digest."""
    changes = [
        transcript("a", record(1, 1, "one")),
        transcript("b", record(1, 1, "one", session=B)),
        transcript("a", record(2, 2, "two")),
        transcript("a", record(2, 2, "two!")),
        transcript("a", facts=[fact("slug", "x")]),
        document("todo", record(3, 1, "three", kind=Kind.TODO, is_link=False)),
        transcript("a", queued(4, 3, "two")),
        transcript("b", checkpoint=None, is_gone=True),
    ]

    digests = [digest(told(backend, item)) for item in changes]

    assert len(changes) == len(set(digests))


def test_forgotten_session_is_gone(backend: Backend) -> None:
    """Nothing of a session is found any more, and nothing of others is lost."""
    told(
        backend,
        transcript("a", record(1, 1, "one"), facts=[fact("slug", "x")]),
        agent("x", record(2, 1, "two", agent="x")),
        transcript("b", record(3, 1, "three", session=B, touches=[Touch(path="/kept", action="read")])),
    )

    backend.forget([A, "nobody"])
    backend.catalog.settle()

    assert [B] == ids(backend)
    assert [] == backend.catalog.facts(A)
    assert [uuid(3)] == list(backend.catalog.links([uuid(1), uuid(2), uuid(3)]))
    assert ([], [], ["three"]) == (texts(backend), texts(backend, A, "x"), texts(backend, B))
    assert (1, {"prompt": 1}) == (backend.catalog.counts().links, backend.catalog.counts().parts)


def test_forgetting_keeps_what_a_fork_shares(backend: Backend) -> None:
    """A record that another session holds too moves there."""
    told(
        backend,
        transcript("a", record(1, 1, "one"), record(2, 2, "two")),
        transcript("b", record(1, 4, "one", session=B, is_forked=True)),
    )

    backend.forget([A])

    assert [("b.jsonl", 4, B)] == places(backend, 1)
    assert ["one"] == texts(backend, B)
    assert {} == backend.catalog.links([uuid(2)])


def test_forgetting_takes_a_text_that_only_the_forgotten_session_had(backend: Backend) -> None:
    """Of a record that a fork shares, the text that only the forgotten session had goes too."""
    told(
        backend,
        transcript("a", record(1, 1, "the whole output")),
        transcript("b", record(1, 1, "a preview", session=B, is_forked=True)),
    )

    backend.forget([A])

    assert ["a preview"] == texts(backend, B)
    assert backend.catalog.part(f"{uuid(1)}#0") is not None


def test_forgetting_keeps_records_of_others_in_a_file_that_is_gone(backend: Backend) -> None:
    """Records that name another session stay with it when the session of their lost file is forgotten."""
    told(
        backend,
        transcript("b", record(1, 1, "one", session=A), record(2, 2, "two", session=B)),
        transcript("b", checkpoint=None, is_gone=True),
    )

    backend.forget([B])

    assert ["one"] == texts(backend, A)
    assert [uuid(1)] == list(backend.catalog.links([uuid(1), uuid(2)]))


def test_forgetting_ends_repeats_of_what_is_forgotten(backend: Backend) -> None:
    """What repeated a part of the forgotten session is a part of its own again."""
    told(
        backend,
        transcript("a", record(1, 1, "one")),
        transcript("b", record(1, 1, "one", session=B, is_forked=True), queued(2, 2, "one", session=B)),
    )

    backend.forget([B])
    backend.catalog.settle()

    assert ({"prompt": 1}, 0) == (backend.catalog.counts().parts, backend.catalog.counts().repeats)


def test_forgetting_counts_responses_and_touched_files_anew(backend: Backend) -> None:
    """What only the forgotten session cost or touched is not counted; what a fork shares still is."""
    shared: dict[str, Any] = {
        "response": "shared",
        "usage": Usage(output=1),
        "touches": [Touch(path="/shared", action="read")],
    }
    own: dict[str, Any] = {"response": "own", "usage": Usage(output=1), "touches": [Touch(path="/own", action="read")]}
    part_of_shared: dict[str, Any] = {"response": "shared", "usage": Usage(output=1)}
    told(
        backend,
        transcript(
            "a", record(1, 1, "zero", **part_of_shared), record(2, 2, "one", **shared), record(3, 3, "2", **own)
        ),
        transcript("b", record(2, 1, "one", session=B, is_forked=True, **shared)),
    )

    backend.forget([A])

    assert (1, 1) == (backend.catalog.counts().responses, backend.catalog.counts().touched)


def test_forgotten_session_that_grows_on_is_a_live_session(backend: Backend) -> None:
    """What a forgotten session says afterwards is kept, and its transcript is there."""
    told(backend, transcript("a", record(1, 1, "one")))
    backend.forget([A])

    told(backend, transcript("a", record(2, 2, "two")))

    (session,) = backend.catalog.sessions(Condition())
    assert (A, False) == (session.id, session.is_gone)
    assert ["two"] == texts(backend)


def test_forgetting_leaves_no_trace_in_the_catalog(local: LocalBackend, tmp_path: Path) -> None:
    """No byte of what only the forgotten session said, knew or touched stays on disk."""
    secret: dict[str, Any] = {
        "touches": [Touch(path="/xylophone/path", action="read")],
        "context": Context(cwd="/xylophone/cwd", branch="xylophone-branch"),
        "agent": "xylophone-agent",
        "tool": "xylophone-tool",
        "call": "xylophone-call",
    }
    told(
        local,
        transcript("a", record(1, 1, "xylophone", **secret), facts=[fact("slug", "xylophone-slug")]),
        transcript("b", record(2, 1, "harp", session=B)),
    )
    before = bytes_on_disk(tmp_path / "index")

    local.forget([A])

    after = bytes_on_disk(tmp_path / "index")
    assert b"xylophone" in before
    assert [] == sorted({after[at - 8 : at + 24] for at in _where(after, b"xylophone")})
    assert ["harp"] == texts(local, B)


def test_forgetting_leaves_no_text_beside_a_reader(local: LocalBackend, tmp_path: Path) -> None:
    """One who reads at the same time does not keep forgotten texts on disk once he is done."""
    told(local, transcript("a", record(1, 1, "xylophone")), transcript("b", record(2, 1, "harp", session=B)))

    with closing(LocalBackend(tmp_path / "index")) as reader:
        assert ["xylophone"] == texts(reader, A)
        local.forget([A])
        assert [] == texts(reader, A)

    assert b"xylophone" not in bytes_on_disk(tmp_path / "index")


def test_records_are_found_by_the_beginning_of_their_uuid(backend: Backend) -> None:
    """By any number of digits, in order, and what they say by the whole of it."""
    told(backend, transcript("a", record(1, 1, "one"), record(2, 2, "two")))

    assert [uuid(1), uuid(2)] == backend.catalog.beginning(uuid(1)[:3], 5)
    assert [uuid(1)] == backend.catalog.beginning(uuid(1), 5)
    assert [uuid(1)] == backend.catalog.beginning(uuid(1)[:3], 1)
    assert [] == backend.catalog.beginning("", 5)
    assert ["two"] == [stored.part.text for stored in backend.catalog.stored(backend.catalog.keys(uuid(2))) if stored]


def test_session_in_a_file_of_another_name_is_gone_with_that_file(backend: Backend) -> None:
    """Its records lie in a transcript that is named otherwise; as long as that is there, so is the session."""
    told(backend, transcript("a", record(1, 1, "one", session=B)))

    assert [False] == [session.is_gone for session in backend.catalog.named([B]).values()]


def test_forgotten_words_leave_the_keyword_index(local: LocalBackend, tmp_path: Path) -> None:
    """The keyword index holds no word of a forgotten session."""
    told(local, transcript("a", record(1, 1, "xylophone")), transcript("b", record(2, 1, "harp", session=B)))
    local.follow()

    local.forget([A])
    local.follow()

    searcher = Keyword(tmp_path / "index" / "keyword").searcher
    assert [0, 1] == [searcher.doc_freq("text", word) for word in ("xylophone", "harp")]


def _numbers_of(session: Any) -> tuple[object, ...]:
    return session.id, session.records, session.prompts, session.agents, session.started, session.ended


def _where(content: bytes, word: bytes) -> Iterator[int]:
    at = content.find(word)
    while at >= 0:
        yield at
        at = content.find(word, at + 1)
