"""How a line of a transcript reads: its place in the chain, its words, and what it tells besides.

A `Reader` goes through one file in line order. The little it must remember from one line to
the next (a warm-up under way, the command just typed, calls that still run) is its `Memory`,
which the checkpoint keeps, so that reading on equals reading at once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from searchkit.sources.claude import events
from searchkit.sources.claude.blocks import assistant_blocks, touches, user_blocks
from searchkit.sources.claude.layout import COPY_AGENTS, SUGGESTION_AGENT, FileKind, encoded
from searchkit.sources.claude.tags import classify
from searchkit.sources.claude.values import count, mapping, milliseconds, synthetic_uuid, text
from searchkit.sources.jsonl import decode
from searchkit.types import Block, Context, Fact, Kind, Origin, Problem, Record, Role, Standing, Touch, Usage

WARMUP = "Warmup"
EMPTY = Context()
# Puts an agent's working directory behind any that its session's own transcript names.
AGENT_LINES = 1 << 40
# A call whose result never comes must not stay in the checkpoint for ever.
MOST_OPEN_CALLS = 256
_AGENT_ID = re.compile(r"agentId: ([\w-]+)")
_STANDINGS = {
    "attachment": Standing.MACHINE,
    "system": Standing.MACHINE,
    "progress": Standing.STAND_IN,
    "queue-operation": Standing.QUEUE,
    "result": Standing.SIDE,
}
_KNOWN = frozenset({"user", "assistant", "pr-link", "frame-link", "worktree-state"} | _STANDINGS.keys())


class Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What reading on must know of the lines before."""

    is_warmup: bool = False
    command: str | None = None
    calls: dict[str, str | None] = {}


class Reader:
    """Reads one transcript, line by line, and gathers what its lines tell."""

    def __init__(self, origin: Origin, memory: Memory, overflow: Callable[[str, str | None], str | None]) -> None:
        """Go on with what is remembered; `overflow` finds the text of a result kept in a file of its own."""
        self._origin = origin
        self._overflow = overflow
        self._is_warmup = memory.is_warmup
        self._command = memory.command
        self._calls = dict(memory.calls)
        self._running: dict[str, tuple[int, dict[str, object]]] = {}
        self._contexts: dict[tuple[str | None, ...], Context] = {(None,) * 5: EMPTY}
        self._spans: dict[tuple[str, str | None, Context], tuple[int, int]] = {}
        self._told: set[tuple[str | None, ...]] = set()
        self.begin()

    def begin(self) -> None:
        """Forget what was gathered, not what is remembered: the next piece begins."""
        self.records: list[Record] = []
        self.facts: list[Fact] = []
        self.problems: list[Problem] = []
        self.noise: Counter[str] = Counter()
        self.lines = 0
        self.torn = 0

    @property
    def memory(self) -> Memory:
        """What the checkpoint must keep."""
        calls = dict(list(self._calls.items())[-MOST_OPEN_CALLS:])
        return Memory(is_warmup=self._is_warmup, command=self._command, calls=calls)

    def read(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Gather the records of a piece; what a call has printed so far counts until its result comes."""
        for number, line in lines:
            if not line or line.strip():
                self.lines += 1
                data = decode(line)
                if data is None:
                    self.torn += 1
                    self.problems.append(Problem(kind="torn line", line=number, detail=f"{len(line)} bytes"))
                else:
                    self._record(number, data)
        for call, (position, progress) in self._running.items():
            blocks = self._heard(events.progress_blocks(progress, call))
            self.records[position] = msgspec.structs.replace(self.records[position], blocks=blocks)
        self._running.clear()
        self._surroundings()

    def _record(self, number: int, data: dict[str, object]) -> None:
        record_type = text(data.get("type")) or "(none)"
        uuid = text(data.get("uuid"))
        session = text(data.get("sessionId")) or self._origin.session
        agent = self._origin.agent or text(data.get("agentId"))
        message = mapping(data.get("message"))
        touched: list[Touch] = []
        match record_type:
            case "assistant":
                blocks = self._assistant(data, message, touched)
            case "user":
                blocks = self._user(data, uuid)
            case "attachment":
                blocks = list(events.attachment_blocks(mapping(data.get("attachment"))))
            case "system":
                blocks = list(events.system_blocks(data))
            case "progress":
                blocks = self._progress(mapping(data.get("data")), data, session)
            case _:
                blocks = list(events.event_blocks(record_type, data))
                if record_type not in _KNOWN | events.STATE.keys() | events.SILENT:
                    self.problems.append(Problem(kind="unknown type", line=number, detail=record_type[:80]))
        blocks = self._heard(blocks)
        context = self._context(data, message)
        if session is not None:
            self._tell(number, record_type, session, agent, data)
            if context is not EMPTY:
                first, _ = self._spans.get((session, agent, context), (number, number))
                self._spans[session, agent, context] = first, number
        if uuid is None and not blocks:
            return
        stamp = data.get("timestamp")
        self.records.append(
            Record(
                uuid=uuid or synthetic_uuid(session, record_type, text(stamp), blocks[0].text),
                type=record_type,
                line=number,
                session=session,
                agent=agent,
                parent=text(data.get("parentUuid")),
                logical_parent=text(data.get("logicalParentUuid")),
                source_call=text(data.get("sourceToolAssistantUUID")),
                time=milliseconds(stamp),
                context=context,
                response=text(message.get("id")),
                usage=_usage(data, message),
                standing=self._standing(record_type, data),
                is_link=uuid is not None,
                is_sidechain=data.get("isSidechain") is True,
                is_forked="forkedFrom" in data,
                is_boundary=data.get("subtype") == "compact_boundary",
                blocks=blocks,
                touches=touched,
            )
        )

    def _assistant(self, data: dict[str, object], message: dict[str, object], touched: list[Touch]) -> list[Block]:
        content = message.get("content", data.get("message"))
        blocks = []
        for block in assistant_blocks(content):
            if block.kind is Kind.TOOL_CALL:
                if block.call:
                    self._calls[block.call] = block.tool
                if block.tool and isinstance(content, list):
                    touched.extend(touches(block.tool, mapping(content[block.number]).get("input")))
            elif block.kind is Kind.TOOL_RESULT:
                block = self._result(block, data)
            elif data.get("isApiErrorMessage") is True:
                block = msgspec.structs.replace(block, kind=Kind.SYSTEM, role=Role.SYSTEM, is_error=True)
            elif self._is_compaction() and block.text.lstrip().startswith(("<analysis>", "<summary>")):
                block = msgspec.structs.replace(block, kind=Kind.SUMMARY)
            blocks.append(block)
        return blocks

    def _user(self, data: dict[str, object], uuid: str | None) -> list[Block]:
        message = data.get("message")
        content = mapping(message).get("content") if isinstance(message, dict) else message
        is_meta = data.get("isMeta") is True
        is_expansion = is_meta and (
            "sourceToolUseID" in data or (self._command is not None and data.get("parentUuid") == self._command)
        )
        origin = text(mapping(data.get("origin")).get("kind"))
        blocks = []
        for block, is_open in user_blocks(content):
            if block.kind is Kind.TOOL_RESULT:
                block = self._result(block, data)
            elif is_open and data.get("isCompactSummary") is True:
                block = msgspec.structs.replace(block, kind=Kind.SUMMARY)
            elif is_open:
                words = classify(block.text, is_meta, is_expansion, origin)
                block = Block(number=block.number, kind=words.kind, role=words.role, text=words.text)
                is_typed = words.kind is Kind.COMMAND and words.role is Role.USER
                self._command = uuid if is_typed or is_expansion else None
            blocks.append(block)
        plan = text(data.get("planContent"))
        if plan:
            number = blocks[-1].number + 1 if blocks else 0
            blocks.append(Block(number=number, kind=Kind.PLAN, role=Role.ASSISTANT, text=plan))
        return blocks

    def _result(self, block: Block, data: dict[str, object]) -> Block:
        """Complete a result: the tool's name, the whole text, and the agent that the call started."""
        tool = self._calls.pop(block.call, None) if block.call else None
        if block.call:
            self._running.pop(block.call, None)
        agent = text(mapping(data.get("toolUseResult")).get("agentId"))
        if agent is None and tool in ("Task", "Agent") and (match := _AGENT_ID.search(block.text)):
            agent = match.group(1)
        session = text(data.get("sessionId")) or self._origin.session
        if agent and block.call and session:
            self._fact(session, agent, "call", block.call)
        whole = self._overflow(block.text, session) if block.text.startswith("<") else None
        return msgspec.structs.replace(block, tool=tool, text=block.text if whole is None else whole)

    def _progress(self, progress: dict[str, object], data: dict[str, object], session: str | None) -> list[Block]:
        progress_type = progress.get("type")
        call = text(data.get("parentToolUseID")) or text(data.get("toolUseID"))
        if progress_type == "hook_progress":
            self.noise["hook_progress"] += 1
        elif progress_type == "agent_progress":
            agent = text(progress.get("agentId"))
            if agent and call and session:
                self._fact(session, agent, "call", call)
            return list(events.agent_progress_blocks(progress))
        elif call and progress and text(data.get("uuid")):
            # A call prints hundreds of these, each repeating the last: only the newest is worth keeping.
            self._running.pop(call, None)
            self._running[call] = (len(self.records), progress)
        return []

    def _heard(self, blocks: Iterable[Block]) -> list[Block]:
        """Leave out what nobody said: empty thinking, warm-ups, suggested prompts."""
        heard = []
        for block in blocks:
            if not block.text or block.text.isspace():
                if block.kind is Kind.THINKING:
                    self.noise["empty_thinking"] += 1
                continue
            if block.kind is Kind.PROMPT:
                self._is_warmup = block.text.strip() == WARMUP
            if self._is_warmup:
                self.noise["warmup"] += 1
            elif (self._origin.agent or "").startswith(SUGGESTION_AGENT):
                self.noise["prompt_suggestion"] += 1
            else:
                heard.append(block)
        return heard

    def _tell(self, number: int, record_type: str, session: str, agent: str | None, data: dict[str, object]) -> None:
        """Gather what a record tells of its session beyond its own words."""
        if record_type in events.STATE:
            leaf = text(data.get("leafUuid"))
            self._state(number, session, agent, record_type, text(data.get(events.STATE[record_type][0])), leaf)
        elif record_type == "pr-link":
            self._state(number, session, agent, "pr-link", text(data.get("prUrl")))
        elif record_type == "worktree-state":
            worktree = mapping(data.get("worktreeSession"))
            self._state(number, session, agent, "worktree", text(worktree.get("worktreePath")))
        elif record_type == "fork-context-ref":
            parent, leaf = text(data.get("parentSessionId")), text(data.get("parentLastUuid"))
            self._state(number, session, agent, "forked-from", parent, leaf)
        elif record_type == "file-history-snapshot":
            for path in mapping(mapping(data.get("snapshot")).get("trackedFileBackups")):
                self._fact(session, agent, "tracked", path)
        elif record_type == "file-history-delta":
            self._fact(session, agent, "tracked", text(data.get("trackingPath")))
        if "slug" in data:
            self._fact(session, agent, "slug", text(data.get("slug")))
        if "forkedFrom" in data:
            self._fact(session, agent, "forked-from", text(mapping(data.get("forkedFrom")).get("sessionId")))

    def _state(
        self,
        number: int,
        session: str,
        agent: str | None,
        name: str,
        value: str | None,
        leaf: str | None = None,
    ) -> None:
        """Keep what may change: of several values the one on the last line holds."""
        if value:
            self.facts.append(Fact(session=session, agent=agent, name=name, value=value, leaf=leaf, line=number))

    def _fact(self, session: str, agent: str | None, name: str, value: str | None) -> None:
        """Keep what stays true wherever it was said, and say it once."""
        if value and (session, agent, name, value) not in self._told:
            self._told.add((session, agent, name, value))
            self.facts.append(Fact(session=session, agent=agent, name=name, value=value))

    def _surroundings(self) -> None:
        """Turn the contexts of a piece into facts: where a session ran, and last on which branch and model.

        The project is where it began, rather the directory that the transcript's own place names.
        """
        for (session, agent, context), (first, last) in self._spans.items():
            if context.cwd:
                is_own = (
                    agent is None and encoded(context.cwd).lower() == (self._origin.project_directory or "").lower()
                )
                rank = 0 if is_own else -first if agent is None else -first - AGENT_LINES
                self.facts.append(Fact(session=session, agent=agent, name="project", value=context.cwd, line=rank))
            for name in ("branch", "model", "version", "entrypoint"):
                self._state(last, session, agent, name, getattr(context, name))
        self._spans.clear()

    def _context(self, data: dict[str, object], message: dict[str, object]) -> Context:
        keys = ("cwd", "gitBranch", "version", "entrypoint")
        values = (*(text(data.get(key)) for key in keys), text(message.get("model")))
        context = self._contexts.get(values)
        if context is None:
            cwd, branch, version, entrypoint, model = values
            context = Context(cwd=cwd, branch=branch, version=version, entrypoint=entrypoint, model=model)
            self._contexts[values] = context
        return context

    def _standing(self, record_type: str, data: dict[str, object]) -> Standing:
        if record_type == "attachment" and mapping(data.get("attachment")).get("type") == "queued_command":
            return Standing.ORIGINAL
        if record_type == "progress" and mapping(data.get("data")).get("type") == "agent_progress":
            return Standing.COPY
        if record_type in _STANDINGS:
            return _STANDINGS[record_type]
        if record_type in events.STATE:
            return Standing.STATE
        if self._origin.kind == FileKind.AGENT and (self._origin.agent or "").startswith(COPY_AGENTS):
            return Standing.COPY
        return Standing.ORIGINAL

    def _is_compaction(self) -> bool:
        return (self._origin.agent or "").startswith("acompact-")


def _usage(data: dict[str, object], message: dict[str, object]) -> Usage | None:
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return None
    cost = data.get("costUSD")
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
        cost=float(cost) if isinstance(cost, (int, float)) and 0 <= cost < 1e9 else None,
    )
