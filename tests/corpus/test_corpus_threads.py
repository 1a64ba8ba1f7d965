"""The corpus holds what makes threads hard to find, and its manifest tells the thread of any record."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.corpus import samples
from tests.corpus.build import GIANT_EVERY_MB, build

MB = 20
SEED = 1
LEAST = 4  # samples of each situation at 20 MB
Lines = dict[str, dict[str, Any]]


class File(msgspec.Struct, frozen=True):
    """A transcript: its records by uuid with the line of each, and the leaf that its last last-prompt names."""

    path: Path
    records: Lines
    lines: Mapping[str, int]
    leaf: str | None

    def ancestors(self, uuid: str) -> list[str]:
        """Return the chain above a record, itself included, as far as this file has it."""
        found: list[str] = []
        at: str | None = uuid
        while at in self.records:
            found.append(at)
            at = self.records[at].get("parentUuid")
        return found

    def children(self) -> dict[str, list[dict[str, Any]]]:
        """Return what hangs off each record."""
        below = defaultdict(list)
        for record in self.records.values():
            below[str(record.get("parentUuid"))].append(record)
        return below


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of 20 MB."""
    root = tmp_path_factory.mktemp("threads")
    build(root, MB, SEED)
    return root


@pytest.fixture(scope="module")
def files(root: Path) -> list[File]:
    """Its transcripts."""
    return [read(path) for path in sorted((root / "projects").rglob("*.jsonl"))]


@pytest.fixture(scope="module")
def threads(root: Path) -> list[dict[str, Any]]:
    """What its manifest tells of threads."""
    told: list[dict[str, Any]] = json.loads((root / "manifest.json").read_bytes())["threads"]
    return told


def test_prompts_are_edited(files: list[File]) -> None:
    """In some sessions two prompts, or two answers, hang off the same record: one of them was abandoned."""
    edited = retried = 0
    for file in files:
        for siblings in file.children().values():
            edited += sum(map(is_asking, siblings)) > 1
            retried += len({response(record) for record in siblings} - {None}) > 1

    assert edited >= 3
    assert retried >= 1


def test_last_prompt_names_a_leaf_on_another_branch(files: list[File]) -> None:
    """The last last-prompt names the last record, or one above it, or one on an older branch."""
    forms = Counter(ending(file) for file in files if file.leaf in file.records)

    assert {"the last record", "another branch", "above it"} == set(forms)


def test_parents_come_later_in_the_file(files: list[File]) -> None:
    """Some records stand before their parents."""
    late = [uuid for file in files for uuid in file.records if file.lines.get(parent(file, uuid), 0) > file.lines[uuid]]

    assert late


def test_parents_are_missing(files: list[File]) -> None:
    """In the middle of some session a record has lost its parent."""
    sessions = [file for file in files if not file.path.name.startswith("agent-")]

    lost = [uuid for file in sessions for uuid in list(file.records)[1:] if is_lost(file, uuid)]

    assert lost


def test_boundaries_name_all_sorts_of_parents(files: list[File]) -> None:
    """A boundary names the line before, one above it, one that is not there, or one on another branch than the line."""
    forms = Counter(form for file in files for form in boundary_forms(file))

    assert set() == {"the line before", "above it", "nothing", "another branch"} - set(forms)


def test_queued_commands_are_typed_mid_run(files: list[File]) -> None:
    """What was typed while the assistant worked leads on in some places and is a leaf in others."""
    leads = Counter(
        bool(file.children().get(uuid))
        for file in files
        for uuid, record in file.records.items()
        if record.get("attachment", {}).get("commandMode") == "prompt"
    )

    assert {True, False} == set(leads)


def test_results_come_in_any_order(files: list[File]) -> None:
    """Results of parallel calls come in order, in another order, or between the calls."""
    forms = Counter(form for file in files for form in result_forms(file))

    assert {"in order", "reordered", "interleaved, chained", "interleaved, unchained"} == set(forms)


def test_every_situation_is_sampled(threads: list[dict[str, Any]]) -> None:
    """At 20 MB each situation has some samples, and none has more than its share of the thousand."""
    counts = Counter(sample["situations"][0] for sample in threads)

    assert {} == {name: counts[name] for name, most in samples.SITUATIONS.items() if not LEAST <= counts[name] <= most}
    assert 1_000 == sum(samples.SITUATIONS.values())


def test_samples_agree_with_themselves(threads: list[dict[str, Any]]) -> None:
    """A thread is as long as the places in it say, holds no record twice, and the record lies in its session."""
    for sample in threads:
        for thread in filter(None, (sample["thread"], sample["otherwise"])):
            shown = [*thread["before"], sample["uuid"], *thread["after"]]
            after = thread["length"] - thread["place"] - 1

            assert (min(30, thread["place"]), min(30, after)) == (len(thread["before"]), len(thread["after"]))
            assert len(shown) == len(set(shown))
        assert sample["session"] in sample["sessions"]


def test_abandoned_records_are_in_no_newer_thread(threads: list[dict[str, Any]]) -> None:
    """What was abandoned is around abandoned records only."""
    abandoned = {sample["uuid"] for sample in threads if "abandoned" in sample["situations"]}

    others = [sample for sample in threads if not {"abandoned", "fork", "copy"} & set(sample["situations"])]
    shown = {uuid for sample in others for uuid in (*sample["thread"]["before"], *sample["thread"]["after"])}

    assert abandoned
    assert set() == abandoned & shown


def test_agents_have_callers_where_a_file_tells(files: list[File], threads: list[dict[str, Any]]) -> None:
    """Callers are calls that start agents; some agents have none, and sessions never do."""
    agents = [sample for sample in threads if {"agent", "nested"} & set(sample["situations"])]
    callers = {sample["caller"] for sample in agents}
    starters = {
        uuid for file in files for uuid in file.records if calls(file.records[uuid]) in ("Task", "Agent", "Workflow")
    }

    assert None in callers
    assert len(callers) > LEAST
    assert callers <= {None, *starters}
    assert {None} == {sample["caller"] for sample in threads if sample["agent"] is None}


def test_shared_records_name_both_sessions(threads: list[dict[str, Any]]) -> None:
    """A record of a fork's prefix lies in two sessions; the fork's own records lie in one."""
    shared = Counter(len(sample["sessions"]) for sample in threads if "shared" in sample["situations"])
    forked = Counter(len(sample["sessions"]) for sample in threads if "fork" in sample["situations"])

    assert 2 in shared
    assert {1} == set(forked)


def test_manifest_counts_the_messages(root: Path, files: list[File]) -> None:
    """The messages of the manifest are the user and assistant records, each uuid once."""
    manifest = json.loads((root / "manifest.json").read_bytes())

    messages = {uuid for file in files for uuid, record in file.records.items() if record["type"] in TALKING}

    assert manifest["messages"] == len(messages)


def test_every_record_of_a_thread_can_be_sampled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for all, the samples are all messages, boundaries and typed queued commands, each once."""
    monkeypatch.setattr(samples, "SITUATIONS", dict.fromkeys(samples.SITUATIONS, 1_000_000))

    manifest = build(tmp_path, 4, SEED)

    files = [read(path) for path in (tmp_path / "projects").rglob("*.jsonl")]
    expected = {uuid for file in files for uuid, record in file.records.items() if is_told(record)}
    sampled = [sample["uuid"] for sample in json.loads(json.dumps(manifest["threads"]))]
    assert sorted(expected) == sorted(sampled)


@pytest.mark.slow
def test_giant_session_is_one_thread(tmp_path: Path) -> None:
    """A corpus of 100 MB has a session of more than 10 MB, and threads of thousands of records."""
    manifest: dict[str, Any] = build(tmp_path, GIANT_EVERY_MB * 0.8, SEED)

    largest = max(path.stat().st_size for path in (tmp_path / "projects").rglob("*.jsonl"))
    longest = max(sample["thread"]["length"] for sample in manifest["threads"])

    assert largest > 10_000_000
    assert longest > 1_500


TALKING = ("user", "assistant")


def read(path: Path) -> File:
    """Read a transcript; a uuid that comes twice counts where it came first."""
    records: Lines = {}
    lines: dict[str, int] = {}
    leaf = None
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if isinstance(record, dict) and "uuid" in record:
            records.setdefault(record["uuid"], record)
            lines.setdefault(record["uuid"], number)
        elif isinstance(record, dict) and record.get("type") == "last-prompt":
            leaf = record.get("leafUuid")
    return File(path, records, lines, leaf)


def parent(file: File, uuid: str) -> str:
    """Return the parent of a record, "" for none."""
    return file.records[uuid].get("parentUuid") or ""


def is_lost(file: File, uuid: str) -> bool:
    """Tell whether a record names a parent that its file does not have."""
    return parent(file, uuid) not in ("", *file.records)


def response(record: dict[str, Any]) -> str | None:
    """Return the id of the response that a record belongs to, None for none."""
    return record["message"].get("id") if record["type"] == "assistant" else None


def is_asking(record: dict[str, Any]) -> bool:
    """Tell whether a user record is no result of a tool."""
    return record["type"] == "user" and "tool_result" not in str(record["message"]["content"])[:200]


def calls(record: dict[str, Any]) -> str | None:
    """Return the tool that a record calls, None for none."""
    content = (record.get("message") or {}).get("content")
    block = content[0] if isinstance(content, list) else {}
    return str(block["name"]) if block.get("type") == "tool_use" else None


def ending(file: File) -> str:
    """Say what the last last-prompt of a session names."""
    last = list(file.records)[-1]
    above = file.ancestors(last)
    return "the last record" if file.leaf == last else "above it" if file.leaf in above else "another branch"


def is_told(record: dict[str, Any]) -> bool:
    """Tell whether threads of the manifest hold a record."""
    if record["type"] == "attachment":
        attachment = record["attachment"]
        return bool(attachment["type"] == "queued_command" and attachment["commandMode"] == "prompt")
    return record["type"] in TALKING or bool(record.get("subtype") == "compact_boundary")


def boundary_forms(file: File) -> Iterator[str]:
    """Say of each boundary of a session what it names."""
    for before, uuid in pairwise(file.records):
        record = file.records[uuid]
        if record.get("subtype") == "compact_boundary":
            named = record["logicalParentUuid"]
            above = file.ancestors(before)
            if named not in file.records:
                yield "nothing"
            elif named in above:
                yield "the line before" if named == before else "above it"
            else:
                fork = next(uuid for uuid in file.ancestors(named) if uuid in above)
                yield "beside it" if calls(file.records[fork]) else "another branch"


def result_forms(file: File) -> Iterator[str]:
    """Say of each response with several calls how their results came."""
    responses: dict[str, list[str]] = defaultdict(list)
    results: dict[str, str] = {}
    for uuid, record in file.records.items():
        if calls(record):
            responses[record["message"]["id"]].append(uuid)
        elif record["type"] == "user" and not is_asking(record):
            results[record["parentUuid"]] = uuid
    for called in responses.values():
        answered = [file.lines[results[call]] for call in called if call in results]
        if len(answered) < 2 or len(answered) < len(called):
            continue
        if answered != sorted(answered):
            yield "reordered"
        elif answered[0] > file.lines[called[-1]]:
            yield "in order"
        else:
            yield f"interleaved, {'chained' if parent(file, called[1]) == called[0] else 'unchained'}"
