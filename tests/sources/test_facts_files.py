"""Facts 6 to 8, 10, 13, 15 and 20 of FORMAT: the same record in many places, and files that change."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from searchkit.backends.base import Backend
from searchkit.sources.claude import ClaudeSource
from tests.support.answers import (
    OTHER,
    SESSION,
    found,
    kept,
    link_of,
    problems_of,
    said,
    session_of,
    sessions_with,
    texts,
)
from tests.support.transcript import Home, Record, Transcript

Index = Callable[[], Backend]
# Sorts behind `agent-…`, so that only being a copy makes the agent's file the worse place.
LATE = "ffffffff-ffff-4fff-8fff-ffffffffffff"


def copied(records: Iterable[Record], transcript: Transcript, **fields: object) -> None:
    """Append records of another transcript as a copying agent or a fork writes them."""
    for record in records:
        transcript.line({**record, **fields})


def conversation(transcript: Transcript) -> list[Record]:
    """Write a prompt and its answer."""
    return [transcript.prompt("where is the marmot?"), transcript.text("in its burrow")]


@pytest.mark.parametrize("kind", ["acompact", "aside_question"])
def test_fact_06_copy_beside_its_session_adds_only_what_is_new(home: Home, indexed: Index, kind: str) -> None:
    """A copying agent's records are the session's own, at home there; only its own words are added."""
    records = conversation(home.session(LATE))
    agent = home.agent(LATE, f"{kind}-12ab", below="")
    copied(records, agent, isSidechain=True, agentId=f"{kind}-12ab")
    agent.prompt("one more question")

    backend = indexed()

    assert ["where is the marmot?", "in its burrow"] == texts(backend, LATE)
    assert ["where is the marmot?", "in its burrow", "one more question"] == texts(backend, LATE, f"{kind}-12ab")
    assert [f"{LATE}.jsonl", f"agent-{kind}-12ab.jsonl"] == places_of(backend, records[0])
    assert ({"prompt": 2, "text": 1}, 3) == (backend.catalog.counts().parts, backend.catalog.counts().links)


def places_of(backend: Backend, record: Record) -> list[str]:
    """Return the names of the files that a record is in, its home first."""
    return [Path(place.file).name for place in link_of(backend, record["uuid"]).places]


def test_fact_06_copy_is_all_there_is_when_the_session_is_gone(home: Home, indexed: Index) -> None:
    """What only a copy holds is read from the copy and found like anything else."""
    agent = home.agent(SESSION, "acompact-12ab")
    conversation(agent)
    agent.text("<analysis>The marmot was sought.</analysis>")

    backend = indexed()

    expected = [("prompt", "where is the marmot?"), ("text", "in its burrow")]
    assert [*expected, ("summary", "<analysis>The marmot was sought.</analysis>")] == said(
        backend, SESSION, "acompact-12ab"
    )
    assert ["in its burrow"] == [hit.part.text for hit in found(backend, "burrow")]
    assert 1 == backend.catalog.counts().sessions


def test_fact_06_copy_with_new_uuids_repeats_by_text(home: Home, indexed: Index) -> None:
    """A copy that gave its records new uuids is kept, but found only where the session says something else."""
    conversation(home.session(SESSION))
    conversation(home.agent(SESSION, "acompact-12ab"))

    backend = indexed()

    (hit,) = found(backend, "marmot")
    assert None is hit.link.places[0].agent
    assert (2, 4) == (backend.catalog.counts().repeats, backend.catalog.counts().links)


def test_fact_06_original_read_after_its_copy_becomes_the_home(home: Home, indexed: Index) -> None:
    """A session's own file that appears later takes its records over from the copy."""
    agent = home.agent(LATE, "acompact-12ab", below="")
    records = conversation(agent)
    indexed()
    copied(records, home.session(LATE), isSidechain=False, agentId=None)

    backend = indexed()

    assert [f"{LATE}.jsonl", "agent-acompact-12ab.jsonl"] == places_of(backend, records[0])
    assert ["where is the marmot?", "in its burrow"] == texts(backend, LATE)


def test_fact_06_suggestions_and_warmups_are_noise(home: Home, indexed: Index) -> None:
    """Suggested prompts and warm-up stubs make no parts; they are counted, and their records stay links."""
    conversation(home.agent(SESSION, "aprompt_suggestion-12ab"))
    warmup = home.agent(SESSION, "a1b2c3d")
    warmup.prompt("Warmup")
    warmup.text("I am ready.")

    backend = indexed()

    counts = backend.catalog.counts()
    assert ({}, 0, 4, 2) == (counts.parts, counts.repeats, counts.links, counts.agents)
    assert {"prompt_suggestion": 2, "warmup": 2} == counts.noise


@pytest.mark.parametrize(("original", "forked"), [(LATE, SESSION), (SESSION, LATE)], ids=["behind", "before"])
def test_fact_07_forked_session_shares_its_records(home: Home, indexed: Index, original: str, forked: str) -> None:
    """A record copied into a fork is one part, found once, that knows both sessions; its home is the original."""
    records = conversation(home.session(original))
    fork = home.session(forked)
    for record in records:
        origin = {"sessionId": original, "messageUuid": record["uuid"]}
        copied([record], fork, sessionId=forked, forkedFrom=origin)
    fork.prompt("go another way")

    backend = indexed()

    (hit,) = found(backend, "marmot")
    assert [original, forked] == [place.session for place in hit.link.places]
    assert ["where is the marmot?", "in its burrow"] == texts(backend, original)
    assert ["where is the marmot?", "in its burrow", "go another way"] == texts(backend, forked)
    assert 3 == backend.catalog.counts().links


def test_fact_07_resumed_session_that_keeps_the_old_id_is_in_both(home: Home, indexed: Index) -> None:
    """Records that still name the old session belong to it and to the session whose file they are in."""
    records = conversation(home.session(SESSION))
    resumed = home.session(OTHER)
    copied(records, resumed)
    resumed.prompt("and now?")

    backend = indexed()

    assert ["where is the marmot?", "in its burrow"] == texts(backend, SESSION)
    assert ["where is the marmot?", "in its burrow", "and now?"] == texts(backend, OTHER)
    assert 1 == len(found(backend, "marmot"))


def test_fact_07_backup_of_a_session_adds_nothing(home: Home, indexed: Index) -> None:
    """A backup beside a transcript and one of the whole project hold the same records once more."""
    transcript = home.session(SESSION)
    records = conversation(transcript)
    content = transcript.path.read_bytes()
    home.write(transcript.path.with_name(f"{SESSION}.jsonl.backup"), content)
    home.write(home.root / "projects" / "backup-of-shop" / f"{SESSION}.jsonl", content)

    backend = indexed()

    counts = backend.catalog.counts()
    assert (3, 6, 2, 1) == (counts.files, counts.records, counts.links, counts.sessions)
    assert {"prompt": 1, "text": 1} == counts.parts
    assert 3 == len(link_of(backend, records[0]["uuid"]).places)


def test_fact_08_identical_lines_are_one_record(home: Home, indexed: Index) -> None:
    """A line written twice is one part in two places, and is reported."""
    transcript = home.session(SESSION)
    record = transcript.prompt("only once")
    transcript.line(record)

    backend = indexed()

    (only,) = kept(backend)
    assert [1, 2] == [place.line for place in only.link.places]
    assert [(f"{SESSION}.jsonl", 2)] == problems_of(backend, "duplicate uuid")


def test_fact_08_same_uuid_with_other_words_is_another_part(home: Home, indexed: Index) -> None:
    """Two texts under one uuid are two parts with ids of their own, and both are found."""
    transcript = home.session(SESSION)
    record = transcript.text("the first wombat")
    transcript.text("the second numbat", uuid=record["uuid"])

    backend = indexed()

    ids = [part.id for part in kept(backend)]
    assert {"the first wombat", "the second numbat"} == set(texts(backend))
    assert 2 == len(set(ids))
    assert f"{record['uuid']}#0" in ids
    assert [ids[0], ids[1]] == [stored.id for part in ids if (stored := backend.catalog.part(part))]
    assert [1, 1] == [len(found(backend, word)) for word in ("wombat", "numbat")]


LAYOUTS = ["{session}/subagents", "", "{session}/subagents/workflows/wf_1", "subagents/{session}/workflows/wf_1"]


@pytest.mark.parametrize("below", LAYOUTS)
def test_fact_10_agent_is_keyed_by_its_parents_session(home: Home, indexed: Index, below: str) -> None:
    """Wherever an agent's file lies, its parts belong to the agent in the session that started it."""
    home.session(SESSION).prompt("send an agent")
    home.agent(SESSION, "a1b2c3d", below=below).prompt("explore the code")

    backend = indexed()

    assert ["explore the code"] == texts(backend, SESSION, "a1b2c3d")
    assert ["send an agent"] == texts(backend, SESSION)
    assert (1, 1) == (backend.catalog.counts().sessions, backend.catalog.counts().agents)
    assert (1, 1) == (session_of(backend).agents, session_of(backend).prompts)


def test_fact_10_same_agent_id_in_two_sessions_is_two_agents(home: Home, indexed: Index) -> None:
    """An agent's id says nothing without its session."""
    home.agent(SESSION, "a1b2c3d", below="").prompt("explore the cart")
    home.agent(OTHER, "a1b2c3d").prompt("explore the order")

    backend = indexed()

    assert 2 == backend.catalog.counts().agents
    assert ["explore the cart"] == texts(backend, SESSION, "a1b2c3d")
    assert ["explore the order"] == texts(backend, OTHER, "a1b2c3d")


def test_fact_13_project_is_the_working_directory_of_the_records(home: Home, indexed: Index) -> None:
    """The project is the path that the records name, which the directory's name cannot tell."""
    home.session(SESSION, cwd="/home/mira/my-shop_v2.0").prompt("hello")

    backend = indexed()

    assert "/home/mira/my-shop_v2.0" == session_of(backend).project
    assert [SESSION] == sessions_with(backend, "project", "my-shop_v2.0")


def test_fact_13_letter_case_of_a_drive_does_not_matter(home: Home, indexed: Index) -> None:
    """The directory a session belongs to is recognised although `c:` and `C:` both occur."""
    transcript = Transcript(home.project("c:\\shop") / f"{SESSION}.jsonl", SESSION, cwd="D:\\elsewhere")
    transcript.prompt("began elsewhere")
    transcript.prompt("then here", cwd="C:\\shop")

    assert "C:\\shop" == session_of(indexed()).project


def test_fact_13_long_directory_name_with_a_hash_is_recognised(home: Home, indexed: Index) -> None:
    """Past 200 characters the directory's name ends in a hash; the session belongs there all the same."""
    cwd = "/home/mira/" + "long/" * 60 + "shop"
    directory = home.project(cwd).with_name(home.project(cwd).name[:200] + "-k3v9x1")
    transcript = Transcript(directory / f"{SESSION}.jsonl", SESSION, cwd="/tmp")
    transcript.prompt("began elsewhere")
    transcript.prompt("then here", cwd=cwd)

    assert cwd == session_of(indexed()).project


def test_fact_15_torn_line_costs_only_itself(home: Home, indexed: Index) -> None:
    """A line that begins in the middle of a record is reported and skipped; its neighbours are intact."""
    transcript = home.session(SESSION)
    transcript.prompt("before")
    transcript.raw(b'eb80","timestamp":"2026-03-01T10:00:00.000Z"}\n')
    transcript.raw(b'"a string"\n17\n[]\n')
    transcript.prompt("after")

    backend = indexed()

    assert ["before", "after"] == texts(backend)
    assert (6, 4, 2) == (
        backend.catalog.counts().lines,
        backend.catalog.counts().torn,
        backend.catalog.counts().records,
    )
    assert [(f"{SESSION}.jsonl", line) for line in (2, 3, 4, 5)] == problems_of(backend, "torn line")


def test_fact_15_half_written_line_waits_until_it_is_complete(home: Home, indexed: Index) -> None:
    """The end of a live file is no damage: the line is indexed once, when the rest of it has come."""
    transcript = home.session(SESSION)
    transcript.prompt("before")
    transcript.text("still being written")
    whole = transcript.path.read_bytes()
    transcript.path.write_bytes(whole[:-40])
    backend = indexed()
    assert ["before"] == texts(backend)
    assert (1, 0) == (backend.catalog.counts().lines, backend.catalog.counts().torn)
    transcript.raw(whole[-40:])

    backend = indexed()

    assert ["before", "still being written"] == texts(backend)
    assert (2, 0) == (backend.catalog.counts().lines, backend.catalog.counts().torn)


def test_fact_20_append_is_read_on_from_where_it_was_left(home: Home, indexed: Index) -> None:
    """Reading in many goes ends like reading at once, and no byte is read twice."""
    transcript = home.session(SESSION)
    backend = indexed()
    read = 0
    for number in range(3):
        transcript.prompt(f"prompt {number}")
        read += sum(change.bytes_read for change in ClaudeSource([home.root]).changes(backend.catalog.checkpoints()))
        backend = indexed()

    assert transcript.path.stat().st_size == read
    assert ["prompt 0", "prompt 1", "prompt 2"] == texts(backend)
    assert [1, 2, 3] == [part.link.places[0].line for part in kept(backend)]
    assert transcript.path.stat().st_size == backend.catalog.counts().bytes


def test_fact_20_replaced_file_is_read_anew_and_nothing_is_lost(home: Home, indexed: Index) -> None:
    """A file whose beginning changed is read from its beginning; what it no longer holds stays known."""
    transcript = home.session(SESSION)
    transcript.prompt("in the old file")
    transcript.raw(b"torn\n")
    indexed()
    transcript.path.write_bytes(b"")
    transcript.prompt("in the new file, which is longer than the old one was")

    backend = indexed()

    assert {"in the old file", "in the new file, which is longer than the old one was"} == set(texts(backend))
    assert (1, 1, 2) == (
        backend.catalog.counts().lines,
        backend.catalog.counts().records,
        backend.catalog.counts().links,
    )
    assert [] == problems_of(backend, "torn line")
    assert transcript.path.stat().st_size == backend.catalog.counts().bytes


def test_fact_20_change_in_the_middle_is_noticed_on_a_restored_file(home: Home, indexed: Index) -> None:
    """A file put back under another inode is compared whole, not only at its ends."""
    transcript = home.session(SESSION)
    transcript.prompt("x" * 4000)
    transcript.prompt("the middle says heron")
    transcript.prompt("y" * 4000)
    indexed()
    restored = transcript.path.with_suffix(".new")
    restored.write_bytes(transcript.path.read_bytes().replace(b"heron", b"egret"))
    restored.replace(transcript.path)

    backend = indexed()

    assert ["the middle says egret"] == [hit.part.text for hit in found(backend, "egret")]
