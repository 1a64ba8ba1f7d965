"""How the files beside the transcripts read: history, todos, plans, memory, titles, overflow, jobs, workflows."""

from collections.abc import Callable, Iterable
from pathlib import Path, PurePath

import msgspec
import orjson

from searchkit.sources.claude.layout import JOB_STATE, FileKind
from searchkit.sources.json_values import count, identity, mapping, milliseconds, strings, synthetic_uuid, text
from searchkit.sources.jsonl import decode, open_regular
from searchkit.sources.transcripts import Document
from searchkit.types import Block, Context, Fact, Kind, Origin, Record, Role, Standing

# Puts what a side file knows of a session behind all that any transcript says.
BEHIND_LINES = -(1 << 50)
# Pasted texts that are looked up for one line of the history; a person pastes a few.
MOST_PASTES = 100


def read_history(number: int, data: dict[str, object], paste: Callable[[str], str | None]) -> Record | None:
    """Read one line of `history.jsonl`: a prompt, with what was pasted into it.

    Long texts are named by a hash; `paste` finds them, where they are still there.
    """
    pasted = []
    for item in map(mapping, list(mapping(data.get("pastedContents")).values())[:MOST_PASTES]):
        content, name = text(item.get("content")), text(item.get("contentHash"))
        pasted.append(paste(name) if content is None and name is not None else content)
    said = "\n".join(item for item in (data.get("display"), *pasted) if isinstance(item, str) and item)
    return _record(
        "history",
        [(Kind.HISTORY, said)],
        session=identity(data.get("sessionId")),
        project=text(data.get("project")),
        time=milliseconds(data.get("timestamp")),
        line=number,
    )


def read_document(path: str, content: bytes, origin: Origin, modified: int) -> Document:
    """Read a side file whole; raises ValueError where it should be JSON and is not."""
    name = PurePath(path).stem
    match origin.kind:
        case FileKind.TODO:
            return _gather([_todo(name, _json(content), origin, modified)])
        case FileKind.PLAN:
            blocks = [(Kind.PLAN, content.decode("utf-8", "replace"))]
            return _gather([_record("plan", blocks, name=name, time=modified)])
        case FileKind.MEMORY:
            blocks = [(Kind.MEMORY, content.decode("utf-8", "replace"))]
            project = origin.project_directory
            return _gather([_record("memory", blocks, name=f"{project}/{name}", time=modified)])
        case FileKind.OVERFLOW:
            return _gather([_overflow(name, content, origin, modified)])
        case FileKind.AGENT_META:
            return _agent_meta(mapping(_json(content)), origin)
        case FileKind.SESSIONS_INDEX:
            return _sessions_index(mapping(_json(content)))
        case FileKind.CUSTOM_TITLE:
            return _custom_title(mapping(_json(content)), origin, modified)
        case FileKind.REMOTE_AGENT:
            return _remote_agent(mapping(_json(content)), origin)
        case FileKind.WORKFLOW:
            return _gather([_workflow(path, content, origin, modified)])
        case FileKind.JOB:
            return _job_state(mapping(_json(content))) if PurePath(path).name == JOB_STATE else _timeline(path, content)
        case FileKind.PASTE:
            said = "" if _is_binary(content) else content.decode("utf-8", "replace")
            return _gather([_record("paste", [(Kind.HISTORY, said)], name=name, time=modified)])
    raise ValueError(f"no document: {origin.kind}")


def _todo(name: str, data: object, origin: Origin, modified: int) -> Record | None:
    """Write a todo list, or one task, as lines of status and words."""
    items = data if isinstance(data, list) else [data]
    lines = []
    for item in map(mapping, items):
        words = [item.get(key) for key in ("subject", "content", "description")]
        said = ": ".join(word for word in words if isinstance(word, str) and word)
        if said:
            lines.append(f"[{text(item.get('status')) or '?'}] {said}")
    blocks = [(Kind.TODO, "\n".join(lines))]
    return _record("todo", blocks, session=origin.session, agent=origin.agent, name=name, time=modified)


def _overflow(name: str, content: bytes, origin: Origin, modified: int) -> Record | None:
    """Read an overflow file that no record has named so far, unless it is binary."""
    if _is_binary(content):
        return None
    block = Block(
        number=0,
        kind=Kind.TOOL_RESULT,
        role=Role.USER,
        text=content.decode("utf-8", "replace"),
        call=name,
    )
    record = _record("tool-result", [(Kind.TOOL_RESULT, block.text)], session=origin.session, name=name, time=modified)
    return record and msgspec.structs.replace(record, blocks=[block], standing=Standing.STAND_IN)


def _agent_meta(data: dict[str, object], origin: Origin) -> Document:
    if origin.session is None:
        return Document()
    names = {"agentType": "agent-type", "description": "description", "toolUseId": "call"}
    names |= {"worktreePath": "worktree", "name": "agent-name"}
    names |= {"parentAgentId": "parent-agent", "workflowPhase": "workflow-phase"}
    facts = [
        Fact(session=origin.session, agent=origin.agent, name=name, value=value)
        for key, name in names.items()
        if (value := text(data.get(key)))
    ]
    title = [(Kind.TITLE, text(data.get("description")) or "")]
    record = _record("agent-meta", title, session=origin.session, agent=origin.agent, name=origin.agent)
    return Document(records=[record] if record else [], facts=facts)


def _sessions_index(data: dict[str, object]) -> Document:
    """Take titles and first prompts from the sessions' index, never the list of sessions itself."""
    records: list[Record | None] = []
    facts: list[Fact] = []
    entries = data.get("entries")
    for entry in map(mapping, entries if isinstance(entries, list) else []):
        session = identity(entry.get("sessionId"))
        if session is None:
            continue
        for key, name in (
            ("summary", "index-summary"),
            ("customTitle", "index-title"),
            ("prUrl", "pr-link"),
        ):
            value = text(entry.get(key))
            if value:
                # Of several versions of the index the one written last holds.
                changed = count(entry.get("fileMtime"))
                facts.append(Fact(session=session, name=name, value=value, line=changed))
        blocks = [
            (Kind.TITLE, text(entry.get("summary")) or ""),
            (Kind.TITLE, text(entry.get("customTitle")) or ""),
            (Kind.HISTORY, text(entry.get("firstPrompt")) or ""),
        ]
        project, time = text(entry.get("projectPath")), milliseconds(entry.get("created"))
        if project:
            facts.append(Fact(session=session, name="project", value=project, line=BEHIND_LINES))
        records.append(_record("sessions-index", blocks, session=session, project=project, time=time))
    return Document(records=[record for record in records if record], facts=facts)


def _custom_title(data: dict[str, object], origin: Origin, modified: int) -> Document:
    """Read the title that a person gave: the file holds the one that holds now, whatever the transcript says."""
    title = text(data.get("customTitle"))
    if origin.session is None or title is None or title.isspace():
        return Document()
    record = _record("custom-title", [(Kind.TITLE, title)], session=origin.session)
    # No transcript has so many lines as there are milliseconds since 1970, and a later title has a later time.
    fact = Fact(session=origin.session, name="custom-title", value=title, line=max(0, modified))
    return Document(records=[record] if record else [], facts=[fact])


def _remote_agent(data: dict[str, object], origin: Origin) -> Document:
    """Read what is known here of an agent that runs elsewhere; its transcript is there."""
    session, agent = origin.session, origin.agent
    if session is None or agent is None:
        return Document()
    names = {"remoteTaskType": "agent-type", "title": "description", "toolUseId": "call", "sessionId": "remote-session"}
    facts = [
        Fact(session=session, agent=agent, name=name, value=value)
        for key, name in names.items()
        if (value := text(data.get(key)))
    ]
    blocks = [(Kind.TITLE, text(data.get("title")) or ""), (Kind.ATTACHMENT, text(data.get("command")) or "")]
    time = milliseconds(data.get("spawnedAt"))
    record = _record("remote-agent", blocks, session=session, agent=agent, name=agent, time=time)
    return Document(records=[record] if record else [], facts=facts)


def _workflow(path: str, content: bytes, origin: Origin, modified: int) -> Record | None:
    """Read a workflow: its script, or how a run of it went; what its agents did is in their transcripts."""
    name, session = PurePath(path).stem, origin.session
    if path.endswith(".js"):
        script = "" if _is_binary(content) else content.decode("utf-8", "replace")
        return _record("workflow-script", [(Kind.ATTACHMENT, script)], session=session, name=name, time=modified)
    data = mapping(_json(content))
    went = [data.get(key) for key in ("workflowName", "summary", "status", "logs", "result", "error")]
    blocks = [(Kind.TOOL_RESULT, strings(went)), (Kind.ATTACHMENT, text(data.get("script")) or "")]
    time = milliseconds(data.get("timestamp")) or modified
    return _record("workflow", blocks, session=session, name=name, time=time)


def _job_state(data: dict[str, object]) -> Document:
    """Read what a background session is: what it was asked, its name, and where it ran."""
    session = identity(data.get("sessionId")) or identity(data.get("resumeSessionId"))
    if session is None:
        return Document()
    project, time = text(data.get("cwd")), milliseconds(data.get("createdAt"))
    known = {"project": project, "index-title": text(data.get("name"))}
    facts = [Fact(session=session, name=name, value=value, line=BEHIND_LINES) for name, value in known.items() if value]
    blocks = [(Kind.HISTORY, text(data.get("intent")) or ""), (Kind.TITLE, text(data.get("name")) or "")]
    record = _record("job", blocks, session=session, project=project, time=time)
    return Document(records=[record] if record else [], facts=facts)


def _timeline(path: str, content: bytes) -> Document:
    """Read what a background session said when; only the state beside it says which session that is."""
    session = _job_session(path)
    job = PurePath(path).parent.name
    records = []
    for number, line in enumerate(content.splitlines(), 1):
        data = decode(line) or {}
        said, at = text(data.get("text")) or text(data.get("detail")) or "", text(data.get("at"))
        name = f"{job}/{at}"
        record = _record("job", [(Kind.TEXT, said)], session=session, name=name, time=milliseconds(at), line=number)
        records.append(record)
    return _gather(records)


def _job_session(path: str) -> str | None:
    state = PurePath(path).with_name(JOB_STATE)
    try:
        if Path(state).is_symlink():
            return None
        with open_regular(str(state)) as file:
            data = mapping(_json(file.read()))
    except (OSError, ValueError):
        return None
    return identity(data.get("sessionId")) or identity(data.get("resumeSessionId"))


def _is_binary(content: bytes) -> bool:
    return b"\0" in content[:8192]


def _record(
    record_type: str,
    blocks: Iterable[tuple[Kind, str]],
    session: str | None = None,
    agent: str | None = None,
    project: str | None = None,
    name: str | None = None,
    time: int | None = None,
    line: int = 1,
) -> Record | None:
    """Make the record of a side file; None where it says nothing."""
    said = [(kind, words) for kind, words in blocks if words.strip()]
    if not said:
        return None
    stamp = str(time) if record_type == "history" else None
    identity = (record_type, session, agent, name, stamp, *(words for _, words in said))
    return Record(
        uuid=synthetic_uuid(*identity),
        type=record_type,
        line=line,
        session=session,
        agent=agent,
        time=time,
        context=Context(cwd=project),
        standing=Standing.ORIGINAL if record_type in ("todo", "plan", "memory") else Standing.SIDE,
        is_link=False,
        blocks=[
            Block(number=number, kind=kind, role=_ROLES.get(kind, Role.SYSTEM), text=words)
            for number, (kind, words) in enumerate(said)
        ],
    )


_ROLES = {Kind.HISTORY: Role.USER, Kind.PLAN: Role.ASSISTANT, Kind.TODO: Role.ASSISTANT, Kind.TEXT: Role.ASSISTANT}
_ROLES |= {Kind.TOOL_RESULT: Role.USER}


def _gather(records: Iterable[Record | None]) -> Document:
    return Document(records=[record for record in records if record is not None])


def _json(content: bytes) -> object:
    """Decode a side file; an empty one, as Claude Code leaves them after a crash, says nothing."""
    if not content.strip():
        return {}
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        # What the transcripts' reader mends, such as half a surrogate pair, it mends in objects only.
        wrapped = decode(b'{"document":' + content + b"}")
        if wrapped is None:
            raise
        return wrapped["document"]
