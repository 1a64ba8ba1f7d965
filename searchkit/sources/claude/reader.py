"""How a line of a transcript reads: its place in the chain, its words, and what it tells besides.

A `Reader` goes through one file in line order. The little it must remember from one line to
the next (a warm-up under way, the command just typed, calls that still run) is its `Memory`,
which the checkpoint keeps, so that reading on equals reading at once.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from searchkit.sources import tools
from searchkit.sources.claude import events
from searchkit.sources.claude.layout import COPY_AGENTS, SUGGESTION_AGENT, is_home_of
from searchkit.sources.claude.line import Envelope, Message, ProgressHead, open_envelope, progress_head, unpack
from searchkit.sources.claude.messages import (
    MACHINE_ORIGINS,
    PERSISTED,
    assistant_blocks,
    classify,
    fork_directive,
    touches,
    user_blocks,
)
from searchkit.sources.json_values import count, identity, mapping, milliseconds, synthetic_uuid, text
from searchkit.sources.jsonl import OVERLONG, decode
from searchkit.sources.salvage import describe, gaps, whole_objects
from searchkit.sources.tools import may_start_agent
from searchkit.types import (
    ANSWERED,
    COST_STATE,
    TURN_DURATION,
    Block,
    Context,
    Fact,
    Kind,
    Origin,
    Problem,
    Record,
    Role,
    Standing,
    Touch,
    Usage,
)

WARMUP = "Warmup"
EMPTY = Context()
# Puts an agent's surroundings behind any that its session's own transcript names.
AGENT_LINES = 1 << 40
# Torn lines of a piece, and records of unknown types in it, that are noted one by one; more are only counted.
MOST_NOTED = 1000
# A call whose result never comes must not stay in the checkpoint for ever, nor a warm-up that nothing follows.
MOST_REMEMBERED = 256
_AGENT_ID = re.compile(r"agentId: ([\w-]+)")
_RUN_ID = re.compile(r"^Run ID: (wf_[\w-]+)$", re.MULTILINE)
_NO_MESSAGE = Message()
# Where a prompt came from, of those that people write: at the keyboard, or handed over by a program for them.
_BY_PERSONS = frozenset({"typed", "sdk", "queued", "human"})
_LINKS = frozenset({"pr-link", "frame-link", "worktree-state"})
_KNOWN = frozenset({"queue-operation", "result"}) | _LINKS | events.STATE.keys() | events.SILENT | events.UNSEEN
_STANDINGS = {"queue-operation": Standing.QUEUE, "result": Standing.SIDE} | dict.fromkeys(events.STATE, Standing.STATE)


class Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What reading on must know of the lines before."""

    warmup: tuple[str, ...] = ()
    command: str | None = None
    calls: dict[str, str | None] = {}
    # A fork of an agent opens with its parent's last response; its own records begin with its directive.
    is_inheriting: bool = False
    # The last message, and the time of the last line that has one: what a client counted so far has neither.
    message: str | None = None
    time: int | None = None
    # Whether a record with a uuid was read, and what the lines before the first one say of copies; see `_is_copied`.
    is_begun: bool = False
    opened: int | None = None
    first_own: str | None = None


class Reader:
    """Reads one transcript, line by line, and gathers what its lines tell."""

    def __init__(self, origin: Origin, memory: Memory, overflow: Callable[[str], str | None]) -> None:
        """Go on with what is remembered; `overflow` finds the text of a result kept in a file of its own."""
        self._origin = origin
        self._overflow = overflow
        self._warmup = dict.fromkeys(memory.warmup)
        self._command = memory.command
        self._calls = dict(memory.calls)
        self._is_inheriting = memory.is_inheriting
        self._message = memory.message
        self._time = memory.time
        self._is_begun = memory.is_begun
        self._opened, self._first_own = memory.opened, memory.first_own
        self._running: dict[str, tuple[int, msgspec.Raw]] = {}
        is_copy_agent = (origin.agent or "").startswith(COPY_AGENTS)
        self._standing = Standing.COPY if is_copy_agent else Standing.ORIGINAL
        self._is_compaction = (origin.agent or "").startswith("acompact-")
        self._is_suggestion = (origin.agent or "").startswith(SUGGESTION_AGENT)
        self._contexts: dict[tuple[str | None, ...], Context] = {(None,) * 5: EMPTY}
        self._spans: dict[tuple[str, str | None, Context], tuple[int, int]] = {}
        self._told: set[tuple[str | None, ...]] = set()
        # Every line names it, so it is not even looked up again while it stays.
        self._slug: tuple[str, str, str | None] | None = None
        self.begin()

    def begin(self) -> None:
        """Forget what was gathered, not what is remembered: the next piece begins."""
        self.records: list[Record] = []
        self.facts: list[Fact] = []
        self.problems: list[Problem] = []
        self.noise: Counter[str] = Counter()
        self.lines = 0
        self.torn = 0
        self._unknown = 0

    @property
    def memory(self) -> Memory:
        """What the checkpoint must keep."""
        calls = dict(list(self._calls.items())[-MOST_REMEMBERED:])
        return Memory(
            warmup=tuple(self._warmup)[-MOST_REMEMBERED:],
            command=self._command,
            calls=calls,
            is_inheriting=self._is_inheriting,
            message=self._message,
            time=self._time,
            is_begun=self._is_begun,
            opened=self._opened,
            first_own=self._first_own,
        )

    def read(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Gather the records of a piece; what a call has printed so far counts until its result comes."""
        for number, line in lines:
            envelope = open_envelope(line)
            if envelope is not None:
                self.lines += 1
                self._record(number, envelope, line)
            elif not line:
                self.lose(number, OVERLONG)
            elif not line.isspace():
                self._damaged(number, line)
        for call, (position, progress) in self._running.items():
            blocks = list(events.progress_blocks(unpack(progress), call))
            self.records[position] = msgspec.structs.replace(self.records[position], blocks=blocks)
        self._running.clear()
        self._surroundings()

    def lose(self, number: int, detail: str) -> None:
        """Count something on a line that is no record, and note where it is."""
        self.lines += 1
        self.torn += 1
        if self.torn <= MOST_NOTED:
            self.problems.append(Problem(kind="torn line", line=number, detail=detail))

    def _damaged(self, number: int, line: bytes) -> None:
        """Read the records of a line that is no object; several are what writes that were cut off leave on one line."""
        kept = []
        for span in whole_objects(line):
            item = line[span.start : span.end]
            envelope = open_envelope(item)
            if envelope is not None and (span.is_apart or _is_record(envelope)):
                kept.append(span)
                self.lines += 1
                self._record(number, envelope, item)
        for gap in gaps(line, kept):
            self.lose(number, describe(gap))

    def _record(self, number: int, envelope: Envelope, line: bytes) -> None:
        record_type = envelope.type
        uuid = envelope.uuid or None
        session = envelope.session_id or self._origin.session
        agent = self._origin.agent or envelope.agent_id or None
        message = envelope.message if type(envelope.message) is Message else _NO_MESSAGE
        time = milliseconds(envelope.timestamp)
        self._time = self._time if time is None else time
        touched: list[Touch] = []
        standing = self._standing
        # What is kept once for all records that say it.
        listing: list[Block] = []
        match record_type:
            case "assistant":
                blocks = self._assistant(envelope, message, touched)
            case "user":
                blocks = self._user(envelope, uuid, listing)
            case "progress":
                head = progress_head(envelope.data)
                standing, blocks = self._progress(envelope, head, session)
                if head.type == "agent_progress":
                    agent = head.agent or agent
            case "attachment":
                attachment = unpack(envelope.attachment)
                blocks = list(events.attachment_blocks(attachment))
                standing = Standing.ORIGINAL if attachment.get("type") == "queued_command" else Standing.MACHINE
                if text(attachment.get("type")) in events.LISTINGS:
                    blocks, listing = [], blocks
            case "system":
                data = decode(line) or {}
                blocks = list(events.system_blocks(data))
                standing = Standing.MACHINE
                if envelope.subtype == "turn_duration" and uuid and session and not envelope.forked_from:
                    self._state(number, session, agent, TURN_DURATION, events.turn_duration(uuid, data), uuid)
            case _:
                data = decode(line) or {}
                blocks = list(events.event_blocks(record_type, data))
                standing = _STANDINGS.get(record_type, standing)
                self._is_inheriting |= record_type == "fork-context-ref" and self._origin.agent is not None
                if not self._is_begun:
                    self._open(record_type, envelope, data)
                if session is not None:
                    self._tell(number, record_type, session, agent, data)
                if record_type not in _KNOWN and self._unknown < MOST_NOTED:
                    self._unknown += 1
                    self.problems.append(Problem(kind="unknown type", line=number, detail=record_type[:80]))
        if record_type in ("assistant", "user"):
            self._message = uuid or self._message
            standing = Standing.COPY if self._is_inheriting else standing
        is_warmup = envelope.parent_uuid in self._warmup
        if blocks:
            blocks, is_warmup = self._heard(blocks, is_warmup, is_own=record_type != "progress")
        if is_warmup and uuid is not None:
            self._warmup[uuid] = None
        context = self._context(envelope, message)
        if session is not None:
            self._note(number, envelope, context, session, agent)
        for block in () if is_warmup or self._is_suggestion else listing:
            if block.text and not block.text.isspace():
                self.records.append(
                    Record(
                        uuid=synthetic_uuid("listing", block.text),
                        type=record_type,
                        line=number,
                        session=session,
                        agent=agent,
                        time=time,
                        context=context,
                        standing=Standing.MACHINE,
                        is_link=False,
                        is_sidechain=envelope.is_sidechain is True,
                        blocks=[block],
                    )
                )
        if uuid is None and not blocks:
            return
        self.records.append(
            Record(
                uuid=uuid or synthetic_uuid(session, record_type, str(envelope.timestamp), blocks[0].text),
                type=record_type,
                line=number,
                session=session,
                agent=agent,
                parent=envelope.parent_uuid or None,
                logical_parent=envelope.logical_parent_uuid or None,
                source_call=envelope.source_tool_assistant or None,
                time=time,
                context=context,
                response=message.id or None,
                usage=_usage(envelope, message) if message.usage is not None else None,
                standing=standing,
                is_link=uuid is not None,
                is_sidechain=envelope.is_sidechain is True,
                is_forked=uuid is not None and self._is_copied(envelope, uuid, time),
                is_boundary=envelope.subtype == "compact_boundary",
                blocks=blocks,
                touches=touched,
            )
        )

    def _open(self, record_type: str, envelope: Envelope, data: dict[str, object]) -> None:
        """Note what the lines before the first message say of when the session itself began."""
        if record_type == "queue-operation" and self._opened is None:
            self._opened = milliseconds(envelope.timestamp)
        elif record_type == "file-history-snapshot":
            self._first_own = identity(data.get("messageId"))

    def _is_copied(self, envelope: Envelope, uuid: str, time: int | None) -> bool:
        """Whether a fork brought a record along from its original.

        `/branch` says so in each record. `--fork-session` copies records under their uuids and says nothing, but what
        the fork itself was asked first stands before them: by its time in the queue, or as the last of the snapshots.
        """
        self._is_begun = True
        if envelope.forked_from or _asked_elsewhere(envelope):
            return True
        if uuid == self._first_own:
            self._first_own = None
        is_older = self._opened is not None and time is not None and time < self._opened
        if not is_older and envelope.type in ("user", "assistant"):
            self._opened = None
        return is_older or self._first_own is not None

    def _assistant(self, envelope: Envelope, message: Message, touched: list[Touch]) -> list[Block]:
        content = envelope.message if isinstance(envelope.message, str) else message.content
        blocks = []
        for block in assistant_blocks(content):
            if block.kind is Kind.TOOL_CALL:
                if block.call:
                    self._calls[block.call] = tools.answering(block)
                if block.tool and isinstance(content, list):
                    touched.extend(touches(block.tool, mapping(content[block.number]).get("input")))
            elif block.kind is Kind.TOOL_RESULT:
                block = self._result(block, envelope)
            elif envelope.is_api_error_message is True:
                block = msgspec.structs.replace(block, kind=Kind.SYSTEM, role=Role.SYSTEM, is_error=True)
            elif self._is_compaction and block.text.lstrip().startswith(("<analysis>", "<summary>")):
                block = msgspec.structs.replace(block, kind=Kind.SUMMARY)
            blocks.append(block)
        return blocks

    def _user(self, envelope: Envelope, uuid: str | None, listing: list[Block]) -> list[Block]:
        message = envelope.message
        is_meta = envelope.is_meta is True
        is_expansion = is_meta and (
            envelope.source_tool_use is not None
            or (self._command is not None and envelope.parent_uuid == self._command)
        )
        blocks = []
        for block, is_open in user_blocks(message.content if type(message) is Message else message):
            self._is_inheriting &= not is_open
            if block.kind is Kind.TOOL_RESULT:
                block = self._result(block, envelope)
            elif is_open and envelope.is_compact_summary is True:
                block = msgspec.structs.replace(block, kind=Kind.SUMMARY)
            elif is_open and (fork := fork_directive(block.text)):
                rules, directive = fork
                listing.append(Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=rules))
                block = Block(number=block.number, kind=Kind.PROMPT, role=Role.USER, text=directive)
            elif is_open:
                origin = text(unpack(envelope.origin).get("kind"))
                words = classify(block.text, is_meta, is_expansion, origin, _is_persons(envelope, origin))
                block = Block(number=block.number, kind=words.kind, role=words.role, text=words.text)
                is_typed = words.kind is Kind.COMMAND and words.role is Role.USER
                self._command = uuid if is_typed or is_expansion else None
            blocks.append(block)
        if envelope.plan_content:
            number = blocks[-1].number + 1 if blocks else 0
            blocks.append(Block(number=number, kind=Kind.PLAN, role=Role.ASSISTANT, text=envelope.plan_content))
        return blocks

    def _result(self, block: Block, envelope: Envelope) -> Block:
        """Complete a result: the tool's name, the whole text, and the agent that the call started."""
        call, session = block.call, envelope.session_id or self._origin.session
        if call is None:
            return block
        tool = self._calls.pop(call, None)
        self._running.pop(call, None)
        if session is not None and (not block.text or block.text.isspace()):
            # It makes no part, and yet nothing must stand in for it any more.
            self._fact(session, None, ANSWERED, call)
        if session is not None and (tool is None or may_start_agent(tool)):
            result = unpack(envelope.tool_use_result)
            agent = identity(result.get("agentId"))
            if agent is None and (match := _AGENT_ID.search(block.text)):
                agent = match.group(1)
            self._fact(session, agent, "call", call if agent else None)
            if tool in (None, "Workflow"):
                # It names no agent but its run, in whose directory the transcripts of its agents lie.
                run = identity(result.get("runId"))
                if run is None and (match := _RUN_ID.search(block.text)):
                    run = match.group(1)
                self._fact(session, run, "call", call if run else None)
        return Block(
            number=block.number,
            kind=block.kind,
            role=block.role,
            text=self._whole(block),
            tool=tool,
            call=call,
            is_error=block.is_error,
        )

    def _whole(self, block: Block) -> str:
        """Return what a block says; of a result kept in a file of its own, what that file says."""
        is_elsewhere = block.kind is Kind.TOOL_RESULT and block.text.startswith(PERSISTED)
        whole = self._overflow(block.text) if is_elsewhere else None
        return block.text if whole is None else whole

    def _progress(self, envelope: Envelope, head: ProgressHead, session: str | None) -> tuple[Standing, list[Block]]:
        call = envelope.parent_tool_use or envelope.tool_use
        if head.type == "hook_progress":
            self.noise["hook_progress"] += 1
        elif head.type == "agent_progress":
            if call and session:
                self._fact(session, head.agent, "call", call)
            blocks = [block for block in events.agent_progress_blocks(unpack(envelope.data)) if block.text != WARMUP]
            return Standing.COPY, [msgspec.structs.replace(block, text=self._whole(block)) for block in blocks]
        elif (
            call
            and envelope.data
            and envelope.uuid
            and not (self._is_suggestion or envelope.parent_uuid in self._warmup)
        ):
            # A call prints hundreds of these, each repeating the last: only the newest is worth keeping.
            self._running.pop(call, None)
            self._running[call] = (len(self.records), envelope.data)
        return Standing.STAND_IN, []

    def _heard(self, blocks: Iterable[Block], is_warmup: bool, is_own: bool) -> tuple[list[Block], bool]:
        """Leave out what nobody said: empty thinking, suggested prompts, warm-ups; say whether it is one of these last.

        What an agent was asked, which its parent's transcript repeats, neither begins nor ends one of the parent.
        """
        heard = []
        for block in blocks:
            if not block.text or block.text.isspace():
                if block.kind is Kind.THINKING:
                    self.noise["empty_thinking"] += 1
                continue
            if block.kind is Kind.PROMPT and is_own:
                is_warmup = block.text.strip() == WARMUP
            if is_warmup:
                self.noise["warmup"] += 1
            elif self._is_suggestion:
                self.noise["prompt_suggestion"] += 1
            else:
                heard.append(block)
        return heard, is_warmup

    def _note(self, number: int, envelope: Envelope, context: Context, session: str, agent: str | None) -> None:
        """Gather what any record tells of its session: where it ran, its slug, what it was forked from."""
        if context is not EMPTY:
            key = (session, agent, context)
            span = self._spans.get(key)
            self._spans[key] = (number if span is None else span[0], number)
        if envelope.slug and (envelope.slug, session, agent) != self._slug:
            self._slug = (envelope.slug, session, agent)
            self._fact(session, agent, "slug", envelope.slug)
        if envelope.forked_from:
            self._fact(session, agent, "forked-from", identity(unpack(envelope.forked_from).get("sessionId")))
        elif agent is None and _asked_elsewhere(envelope):
            self._fact(session, agent, "forked-from", envelope.request_session)

    def _tell(self, number: int, record_type: str, session: str, agent: str | None, data: dict[str, object]) -> None:
        """Gather what a record that is no message tells of its session."""
        if record_type in events.STATE:
            leaf = identity(data.get("leafUuid"))
            self._state(number, session, agent, record_type, text(data.get(events.STATE[record_type][0])), leaf)
        elif record_type == "pr-link":
            self._state(number, session, agent, "pr-link", text(data.get("prUrl")))
        elif record_type == "cost-state":
            self._state(number, session, agent, COST_STATE, events.cost_state(data, self._time), self._message)
        elif record_type == "relocated":
            self._state(number, session, agent, "worktree", text(data.get("relocatedCwd")))
        elif record_type == "worktree-state":
            worktree = mapping(data.get("worktreeSession"))
            self._state(number, session, agent, "worktree", text(worktree.get("worktreePath")))
        elif record_type == "fork-context-ref":
            parent, leaf = identity(data.get("parentSessionId")), identity(data.get("parentLastUuid"))
            self._state(number, session, agent, "forked-from", parent, leaf)
        elif record_type == "file-history-snapshot":
            for path in mapping(mapping(data.get("snapshot")).get("trackedFileBackups")):
                self._fact(session, agent, "tracked", path)
        elif record_type == "file-history-delta":
            self._fact(session, agent, "tracked", text(data.get("trackingPath")))

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
                is_own = agent is None and is_home_of(self._origin.project_directory or "", context.cwd)
                rank = 0 if is_own else -first if agent is None else -first - AGENT_LINES
                self.facts.append(Fact(session=session, agent=agent, name="project", value=context.cwd, line=rank))
            latest = last if agent is None else last - AGENT_LINES
            for name in ("branch", "model", "version", "entrypoint"):
                self._state(latest, session, agent, name, getattr(context, name))
        self._spans.clear()

    def _context(self, envelope: Envelope, message: Message) -> Context:
        values = (envelope.cwd, envelope.git_branch, envelope.version, envelope.entrypoint, message.model)
        context = self._contexts.get(values)
        if context is None:
            cwd, branch, version, entrypoint, model = (value or None for value in values)
            context = Context(cwd=cwd, branch=branch, version=version, entrypoint=entrypoint, model=model)
            self._contexts[values] = context = EMPTY if context == EMPTY else context
        return context


def _is_persons(envelope: Envelope, origin: str | None) -> bool | None:
    """Say whether a person typed the words of a record, as far as it says so itself; None where it does not."""
    if envelope.holds_persons_words is True or origin == "human":
        return True
    if origin in MACHINE_ORIGINS:
        # Until 2.1.197 the notice that an agent has ended has the source of the prompt that started it.
        return False
    source = envelope.prompt_source or envelope.turn_origin
    return None if source is None else source in _BY_PERSONS


def _asked_elsewhere(envelope: Envelope) -> bool:
    return envelope.request_session not in (None, envelope.session_id)


def _is_record(envelope: Envelope) -> bool:
    """Whether an object found beside something torn is a record, and not a block, a message or a tool's input."""
    return bool(envelope.uuid or envelope.session_id) or envelope.type in _KNOWN


def _usage(envelope: Envelope, message: Message) -> Usage | None:
    tokens = message.usage
    if tokens is None:
        return None
    cost = envelope.cost
    written = count(tokens.cache_creation_input_tokens)
    return Usage(
        input=count(tokens.input_tokens),
        output=count(tokens.output_tokens),
        cache_read=count(tokens.cache_read_input_tokens),
        cache_write=written,
        cache_write_1h=min(written, count(mapping(tokens.cache_creation).get("ephemeral_1h_input_tokens"))),
        cost=float(cost) if cost is not None and 0 <= cost < 1e9 else None,
    )
