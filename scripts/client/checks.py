"""What must hold of searchkit's answers about the transcripts that the client wrote."""

import json
import math
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

from client import inventory, transcripts
from client.api import Sent, say
from client.product import Product, Said
from client.report import Report
from client.stage import Planted, Stage
from client.transcripts import Place, places, records, responses, session

# By what the words of each kind are told in a transcript.
WHERE = {
    "prompt": ("user/text", "attachment/queued_command"),
    "text": ("assistant/text",),
    "thinking": ("assistant/thinking",),
    "tool_call": ("assistant/tool_use",),
    "tool_result": ("user/tool_result", "file/overflow"),
    "summary": ("summary/text",),
    "command": ("user/text", "meta/text", "system/local_command"),
    "title": ("custom-title", "ai-title", "agent-name"),
    "attachment": ("attachment/hook_additional_context", "attachment/hook_success", "attachment/instructions"),
    "plan": ("file/plan",),
    "todo": ("file/task",),
}
# Kept once for all sessions that hold them, under an id of their own.
LISTED = ("attachment/instructions",)
# Parts of other kinds may be of files beside the transcripts, or of records without a uuid.
SPOKEN = ("prompt", "text", "thinking", "tool_call")
TOKENS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}
MODEL_TOKENS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheCreationInputTokens",
}
FOUND_SECONDS = 3.0
GIVE_UP_SECONDS = 20.0
# Both sides add up floats, in another order.
COST_TOLERANCE = 1e-9


def words(report: Report, stage: Stage, product: Product) -> None:
    """Check that every planted word is found with its kind, session and uuid."""
    planted = {one.word: one for one in stage.planted}
    on_disk = places(stage.home.root, set(planted))
    # A title is no result where its session has another hit, so it is asked for by its kind.
    found = product.search(list(planted)) | product.search(
        [word for word, one in planted.items() if one.kind == "title"], kind="title"
    )
    missing = [f"{word} ({one.kind}) is in no transcript" for word, one in planted.items() if not _held(one, on_disk)]
    report.check(f"{len(planted)} planted words are in the transcripts", missing)
    kinds = sorted({one.kind for one in planted.values()})
    for kind in kinds:
        chosen = [one for one in planted.values() if one.kind == kind and _held(one, on_disk)]
        faults = [fault for one in chosen for fault in faults_of(one, on_disk[one.word], found.get(one.word, []))]
        report.check(f"{len(chosen)} words of kind {kind} are found with their session and uuid", faults)


def faults_of(one: Planted, held: list[Place], hits: list[dict[str, Any]]) -> list[str]:
    """Say what is wrong with the answer to a planted word, by where it stands in the transcripts."""
    wanted = [place for place in held if place.where in WHERE[one.kind] and place.session == one.session]
    uuids = {place.uuid for place in wanted if place.uuid and place.where not in LISTED}
    right = [
        hit
        for hit in hits
        if hit["kind"] == one.kind and (hit["session"] or "") == one.session and (not uuids or hit["uuid"] in uuids)
    ]
    seen = [f"{hit['kind']} {hit['uuid'][:8]} in {(hit['session'] or 'no session')[:10]}" for hit in hits]
    if not right:
        places = "/".join(sorted(id[:8] for id in uuids))
        return [f"{one.word} must be {one.kind} {places} in {one.session[:8]}, found: {seen}"]
    faults = []
    if len(right) > max(1, len(uuids)):
        faults.append(f"{one.word} is found {len(right)} times as {one.kind}: {seen}")
    # What an agent was told to do is a prompt, too, but in the agent's own transcript.
    wrong = [hit for hit in hits if hit["kind"] == "prompt" and one.kind != "prompt" and not hit["agent"]]
    if wrong:
        faults.append(f"{one.word} ({one.kind}) is told as typed by a person: {seen}")
    known = {place.uuid for place in held}
    strange = [f"{hit['kind']} {hit['uuid']}" for hit in hits if hit["kind"] in SPOKEN and hit["uuid"] not in known]
    if strange:
        faults.append(f"{one.word} is found in records that do not hold it: {strange}")
    return faults


def counts(report: Report, stage: Stage, product: Product) -> None:
    """Check that prompts, calls and tokens equal what was sent and what the client counted."""
    prompts, calls, tokens, told = [], [], [], []
    written = responses(stage.home.root)
    listed = _sessions(product)
    for id, sent in stage.prompts.items():
        figures = product.run("stats", "--session", id, "--json").json["total"]
        name = _name(stage, id)
        if figures["prompts"] != sent:
            prompts.append(f"{name}: stats has {figures['prompts']} prompts, {sent} were sent")
        if id in listed and listed[id]["prompts"] != sent and id not in stage.forks:
            prompts.append(f"{name}: sessions has {listed[id]['prompts']} prompts, {sent} were sent")
        answered = [one for one in stage.api.sent if one.id in written.get(id, {}) and one.session == id]
        wanted = sum(len(one.calls) for one in answered)
        if figures["calls"] != wanted:
            calls.append(f"{name}: {figures['calls']} calls, the API sent {wanted}")
        sums = {mine: sum(one.usage[theirs] for one in answered) for mine, theirs in TOKENS.items()}
        if figures["tokens"] != sums:
            tokens.append(f"{name}: {figures['tokens']}, the API sent {sums}")
        aside = [one for one in stage.api.sent if one.id not in written.get(id, {}) and one.session == id]
        told.extend(_told(stage, id, name, [*answered, *aside]))
    report.check(f"prompts of {len(stage.prompts)} sessions equal those that were sent", prompts)
    report.check(f"calls of {len(stage.prompts)} sessions equal those that the API sent", calls)
    report.check(f"tokens of {len(stage.prompts)} sessions equal those that the API sent", tokens)
    once = len(stage.results.keys() - stage.resumed - stage.forks.keys())
    report.check(f"tokens of {once} sessions equal the client's own figures", told)


def costs(report: Report, stage: Stage, product: Product) -> None:
    """Check that the cost of each session equals what the client says it was."""
    listed = _sessions(product)
    name = "costs of {} sessions equal the client's total_cost_usd, forks included"
    if not any("cost" in one for one in listed.values()):
        report.skip(name.format(len(stage.results)), "searchkit sessions --json has no field cost")
        return
    running = {
        session(stage.home.root, path, record)
        for path, record in records(stage.home.root)
        if record.get("type") == "cost-state"
    }
    written = {id for answered in responses(stage.home.root).values() for id in answered}
    aside = {one.session for one in stage.api.sent if one.id not in written}
    faults, unknowable = [], []
    for id in stage.results:
        cost = listed.get(id, {}).get("cost") or {}
        wanted = _cost(stage, id, running)
        if cost.get("is_estimate") and id in aside:
            unknowable.append(id)
        elif "usd" not in cost or not math.isclose(cost["usd"], wanted, abs_tol=COST_TOLERANCE):
            faults.append(f"{_name(stage, id)}: {cost.get('usd')}, the client says {wanted}")
    report.check(name.format(len(stage.results) - len(unknowable)), faults)
    if unknowable:
        # Compactions and searches of the web, in clients that write no totals down.
        reason = "the client asked for more than it wrote down, and wrote no total"
        report.skip(f"costs of {len(unknowable)} further sessions", reason)


def _cost(stage: Stage, id: str, running: set[str]) -> float:
    """Return what a session cost by the client's own figures.

    A client that writes running totals down goes on with them in a resumed session and in a fork; others begin at 0.
    """
    if id not in running:
        return sum(stage.costs[id])
    original = stage.forks.get(id)
    return stage.costs[id][-1] - (stage.costs[original][stage.forked_after[id] - 1] if original else 0.0)


def titles(report: Report, stage: Stage, product: Product) -> None:
    """Check that sessions are told by their names, or by what was typed first."""
    listed = _sessions(product)
    faults = []
    called = transcripts.titles(stage.home.root)
    for id, title in {**stage.titles, **called}.items():
        seen = listed.get(id, {}).get("title")
        if seen != title:
            faults.append(f"{id[:8]} is told as {seen!r}, not {title!r}")
    count = len({*stage.titles, *called})
    report.check(f"titles of {count} sessions, {len(called)} of them given by a person or the client", faults)
    unknown = sorted(set(listed) - set(stage.prompts))
    report.check("no session is listed that was not played", [f"{id} {listed[id]['title']!r}" for id in unknown])


def plugin(report: Report, stage: Stage, product: Product, root: Path) -> None:
    """Install the plugin, and let the client say that it is valid and that its server connects."""
    installed = product.run("install", "claude", "--yes")
    report.check("searchkit install claude", [] if installed.status == 0 else [installed.error])
    for place in (stage.home.root / "skills" / "searchkit", root):
        said = _claude(stage, "plugin", "validate", str(place))
        what = "the marketplace" if place == root else "the plugin"
        report.check(f"claude plugin validate accepts {what}", [] if said.status == 0 else [said.output[-300:]])
    said = _claude(stage, "mcp", "list")
    lines = [line for line in said.output.splitlines() if "searchkit" in line]
    report.check(
        "claude mcp list connects", [] if "Connected" in " ".join(lines) else [said.output[-300:] or said.error]
    )


def answers(report: Report, stage: Stage) -> None:
    """Check what searchkit's tools returned, and that the session that asked was left out."""
    for name in ("search", "context", "show", "sessions", "files", "fixes"):
        result = stage.answers.get(name)
        if result is None:
            report.check(f"the client calls {name}", ["it was not offered, or its result did not come"])
            continue
        text = _text(result)
        report.check(f"the client calls {name}", [text[:200]] if result.get("is_error") or "{" not in text else [])
    for when, asked in stage.asked.items():
        try:
            answer = json.loads(_text(asked.result))
        except ValueError:
            report.check(f"who asks {when} is left out", [f"the answer is no JSON: {_text(asked.result)[:200]!r}"])
            continue
        out = [one["session"] for one in answer.get("left_out", ())]
        found = [one["session"] for one in answer.get("results", ())]
        faults = [] if out == [asked.session] else [f"{out} were left out, {asked.session} asks"]
        faults += ["it finds itself"] if asked.session in found else []
        first = stage.asked["at first"].session
        if when != "at first" and first not in found:
            faults.append(f"it does not find the session before /clear, but {found}")
        report.check(f"who asks {when} is left out, and nothing else", faults)


def called(report: Report, stage: Stage) -> None:
    """Check that every tool that the client offered was called."""
    used = {name for one in stage.api.sent for name in one.calls}
    names = {"Agent" if name == "Task" else name for name in stage.tools}
    missing = sorted(names - used)
    report.check(f"{len(names)} tools that the client offers are called", missing and [", ".join(missing)])


def health(report: Report, product: Product) -> None:
    """Check that doctor knows every type of record."""
    findings = product.run("doctor", "--json").json["findings"]
    strange = [f"{one['kind']}: {one.get('count', '')}" for one in findings if "unknown" in one["kind"]]
    report.check("doctor finds no unknown types", strange)


def resume(report: Report, stage: Stage, product: Product) -> None:
    """Check that the printed command reopens sessions: resumed, compacted, forked, with agents, from a worktree."""
    for name in ("plain", "compacted", "copy", "agents", "worktree"):
        id = stage.session_of(f"zq{name}prompt")
        if id is None:
            continue
        printed = product.run("resume", id).output.strip()
        mark = f"reopen{id[:4]}"
        answer = stage.plant("text", id, f"{mark}answer")
        stage.api.scripts[mark] = [say(answer)]
        stage.prompts[id] += 1
        asked = shlex.quote(f"zq{mark}prompt [[{mark}]]")
        command = ["/bin/bash", "-c", f"{printed} -p --output-format json {asked}"]
        place = stage.home.directory
        done = subprocess.run(
            command, cwd=place, env=stage.home.environment, capture_output=True, text=True, timeout=60, check=False
        )
        name = f"the printed command reopens the session {name}"
        try:
            result = json.loads(done.stdout)
        except ValueError:
            report.check(name, [f"{printed!r} ended with {done.returncode}: {done.stderr.strip()[-200:]}"])
            continue
        result = result[-1] if isinstance(result, list) else result
        is_same = result.get("session_id") == id and result.get("result") == answer
        report.check(name, [] if is_same else [f"{result.get('session_id')} answered {result.get('result')!r}"])
        stage.note(id, result, is_resumed=True)


def soon(report: Report, stage: Stage, product: Product) -> None:
    """Check that a message is found within three seconds of its being written, without anybody indexing."""
    product.run("search", "anything", "--json", has_resident=True)
    ran = stage.send("soon", [say("zqsoonanswer here")])
    id = ran.result["session_id"]
    stage.plant("text", id, "soonanswer")
    began = time.monotonic()
    seen = False
    while not seen and time.monotonic() - began < GIVE_UP_SECONDS:
        said = product.run("search", "zqsoonanswer", "--json", "--group", "none", has_resident=True)
        seen = said.status == 0 and any(one["session"] == id for one in said.json["results"])
    took = time.monotonic() - began
    wrong = [f"it took {took:.1f} s"] if seen else [f"it was not found within {GIVE_UP_SECONDS:.0f} s"]
    report.check(
        f"a new message is found within {FOUND_SECONDS:.0f} s ({took:.1f} s)", wrong if took > FOUND_SECONDS else []
    )


def types(report: Report, stage: Stage, is_known: bool) -> None:
    """Compare record types and fields with the committed inventory; what is new fails a known version."""
    seen = inventory.collect(record for _, record in records(stage.home.root))
    fresh = inventory.news(seen, inventory.load())
    name = f"{len(seen)} record types with {sum(map(len, seen.values()))} fields are in the inventory"
    for line in fresh:
        print(f"new      {line}")
    if fresh and not is_known:
        report.skip(name, f"{len(fresh)} types have news, in a version that the inventory does not cover")
    else:
        report.check(name, fresh)


def _held(one: Planted, on_disk: dict[str, list[Place]]) -> list[Place]:
    """Return where a word stands as what it was planted as."""
    held = on_disk.get(one.word, [])
    return [place for place in held if place.where in WHERE[one.kind] and place.session == one.session]


def _told(stage: Stage, id: str, name: str, sent: list[Sent]) -> list[str]:
    """Compare the client's own figures, which count what it asked aside, with what the API sent in the session.

    Those of resumed sessions and forks are running totals in some versions and those of the last run in others.
    """
    used = (stage.results.get(id) or {}).get("modelUsage")
    if not used or id in stage.resumed or id in stage.forks:
        return []
    told = {mine: sum(model[theirs] for model in used.values()) for mine, theirs in MODEL_TOKENS.items()}
    sums = {mine: sum(one.usage[theirs] for one in sent) for mine, theirs in TOKENS.items()}
    return [] if sums == told else [f"{name}: the API sent {sums}, the client says {told}"]


def _claude(stage: Stage, *arguments: str) -> Said:
    done = subprocess.run(
        [str(stage.home.binary), *arguments],
        cwd=stage.home.project,
        env=stage.home.environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Said(status=done.returncode, output=done.stdout, error=done.stderr.strip()[-500:])


def _text(result: dict[str, Any]) -> str:
    """Return what a result of a tool says."""
    content = result.get("content")
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content)
    return str(content or "")


def _sessions(product: Product) -> dict[str, dict[str, Any]]:
    return {one["session"]: one for one in product.run("sessions", "--limit", "1000", "--json").json["sessions"]}


def _name(stage: Stage, id: str) -> str:
    return stage.titles.get(id, id)[:24]
