"""How a rollout reads, line by line: {timestamp, type, payload}.

What was said is taken from `response_item`; the same words come again as `event_msg`, which is read for what only it
knows: usage, errors, names. Lines have no ids, so a record is named by the turn that it is in and by what it says.
A fork and a forked agent begin with a copy of their parent's lines: turns keep their ids there, so that the copies get
the names of the originals, and are one record with two places.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from searchkit.sources import tools
from searchkit.sources.codex import messages
from searchkit.sources.codex.layout import AGENT_KIND, HISTORY_KIND, SESSION_KIND
from searchkit.sources.json_values import count, identity, mapping, milliseconds, strings, synthetic_uuid, text
from searchkit.sources.jsonl import OVERLONG, Piece, decode
from searchkit.sources.salvage import describe, gaps, whole_objects
from searchkit.sources.transcripts import Found
from searchkit.types import (
    ANSWERED,
    Block,
    Change,
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

Fields = dict[str, object]

NAME = "codex"
# Puts an agent's surroundings behind any that its session's own rollout names.
AGENT_LINES = 1 << 40
# Torn lines of a piece, and records of unknown types in it, that are noted one by one; more are only counted.
MOST_NOTED = 1000
# A call whose result never comes must not stay in the checkpoint for ever, nor a text that is never said again.
MOST_REMEMBERED = 256
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output", "mcp_tool_call_output"})
# Items that say nothing that can be read.
_SILENT_ITEMS = frozenset({"ghost_snapshot", "compaction", "image_generation_call", "context_compaction", "other"})
# Lines of old rollouts are items themselves, without a payload.
_ITEMS = _CALLS | _RESULTS | _SILENT_ITEMS | {"message", "reasoning"}
# Lines that hold bookkeeping and no words.
_SILENT = frozenset({"world_state", "state", "inter_agent_communication_metadata"})
# Events that tell of something that no item tells.
_ERRORS = frozenset({"error", "stream_error", "warning"})
_TURNS = frozenset({"task_started", "turn_started"})
_AGENT_ID = re.compile(r'"(?:agent_id|new_thread_id)"\s*:\s*"([\w-]{1,64})"')


class Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What reading on must know of the lines before."""

    has_meta: bool = False
    has_items: bool = False
    session: str = ""
    agent: str = ""
    is_forked: bool = False
    # What records are named after: the turn, or, before any, the session.
    turn: str = ""
    # How often the turn said a text, by the name of its first record.
    said: dict[str, int] = {}
    last: str = ""
    calls: dict[str, str | None] = {}
    context: tuple[str | None, ...] = (None,) * 5
    # The tokens that were counted last: an event repeats them whenever a limit changes.
    total_tokens: int = 0


class RolloutReader:
    """Reads one rollout, or the history of prompts, and gathers what its lines tell."""

    def __init__(self, item: Found, memory: msgspec.Raw) -> None:
        """Go on with what is remembered."""
        try:
            known = msgspec.json.decode(memory, type=Memory)
        except msgspec.MsgspecError:
            known = Memory()
        self._place = item.origin
        self._has_meta, self._has_items = known.has_meta, known.has_items
        self._session = known.session or item.origin.session or ""
        self._agent = known.agent or None
        self._is_forked = known.is_forked
        self._turn = known.turn or self._session
        self._said = Counter(known.said)
        self._last = known.last or None
        self._calls = dict(known.calls)
        cwd, branch, version, entrypoint, model = (*known.context, *(None,) * 5)[:5]
        self._context = Context(cwd=cwd, branch=branch, version=version, entrypoint=entrypoint or NAME, model=model)
        self._total_tokens = known.total_tokens
        self._told: set[tuple[str | None, ...]] = set()
        self._begin()

    def _begin(self) -> None:
        self.records: list[Record] = []
        self.facts: list[Fact] = []
        self.problems: list[Problem] = []
        self.noise: Counter[str] = Counter()
        self.lines = 0
        self.torn = 0
        self._unknown = 0

    @property
    def origin(self) -> Origin:
        """What the file is: of an agent, if its first line says so."""
        if self._place.kind == HISTORY_KIND:
            return self._place
        kind = AGENT_KIND if self._agent else SESSION_KIND
        return Origin(kind=kind, session=self._session or None, agent=self._agent)

    @property
    def memory(self) -> Memory:
        """What the checkpoint must keep."""
        context = self._context
        return Memory(
            has_meta=self._has_meta,
            has_items=self._has_items,
            session=self._session,
            agent=self._agent or "",
            is_forked=self._is_forked,
            turn=self._turn,
            said=dict(self._said),
            last=self._last or "",
            calls=dict(self._calls),
            context=(context.cwd, context.branch, context.version, context.entrypoint, context.model),
            total_tokens=self._total_tokens,
        )

    def read(self, piece: Piece, /) -> None:
        """Gather what the lines of a piece tell."""
        self._begin()
        for number, line in piece.lines:
            data = decode(line)
            if data is not None:
                self.lines += 1
                self._line(number, data)
            elif not line:
                self._lose(number, OVERLONG)
            elif not line.isspace():
                self._damaged(number, line)

    def beside(self) -> Iterable[Change]:
        """Name no other files."""
        return ()

    def _lose(self, number: int, detail: str) -> None:
        self.lines += 1
        self.torn += 1
        if self.torn <= MOST_NOTED:
            self.problems.append(Problem(kind="torn line", line=number, detail=detail))

    def _damaged(self, number: int, line: bytes) -> None:
        """Read the whole objects of a line that is none; writes that were cut off leave several on one line."""
        kept = []
        for span in whole_objects(line):
            data = decode(line[span.start : span.end])
            if data is not None and (span.is_apart or _is_line(data)):
                kept.append(span)
                self.lines += 1
                self._line(number, data)
        for gap in gaps(line, kept):
            self._lose(number, describe(gap))

    def _line(self, number: int, data: Fields) -> None:
        if self._place.kind == HISTORY_KIND:
            self._history(number, data)
            return
        line_type, time = text(data.get("type")) or "", milliseconds(data.get("timestamp"))
        payload = mapping(data.get("payload"))
        if "payload" not in data and line_type in _ITEMS:
            line_type, payload = "response_item", data
        elif "payload" not in data and not line_type and identity(data.get("id")):
            line_type, payload = "session_meta", data
        match line_type:
            case "session_meta":
                self._meta(number, payload)
            case "turn_context":
                self._surroundings(number, payload)
            case "response_item":
                self._item(number, payload, time)
            case "compacted":
                self._compacted(number, payload, time)
            case "event_msg":
                self._event(number, payload, time)
            case _ if line_type not in _SILENT and "record_type" not in data:
                self._unknown_line(number, line_type, payload or data, time)

    def _meta(self, number: int, meta: Fields) -> None:
        """Read the head of the rollout; a head that follows it is copied from the parent, and only names records."""
        own = identity(meta.get("id")) or identity(meta.get("session_id"))
        if self._has_meta:
            if not self._has_items and own is not None:
                self._turn = own
            return
        self._has_meta = True
        own = own or self._session
        forked_from, parent = identity(meta.get("forked_from_id")), _parent(meta)
        self._is_forked = forked_from is not None or parent is not None
        self._turn = forked_from or own
        if parent is not None and parent != own:
            # Of an agent that an agent started, the head names the session of them all.
            session = identity(meta.get("session_id"))
            self._session, self._agent = (session if session not in (None, own) else parent) or parent, own
            spawn = _spawn(meta)
            for name, key in (("agent-type", "agent_role"), ("description", "agent_nickname")):
                self._fact(name, text(meta.get(key)) or text(spawn.get(key)), agent=own)
            if self._session != parent:
                self._fact("parent-agent", parent, agent=own)
        else:
            self._session = own
            self._fact("forked-from", forked_from)
        git = mapping(meta.get("git"))
        self._context = Context(
            cwd=text(meta.get("cwd")),
            branch=text(git.get("branch")),
            version=text(meta.get("cli_version")),
            # Other programs may start Codex, and give their own names here.
            entrypoint=f"{NAME} {text(meta.get('originator')) or ''}".rstrip(),
            model=self._context.model,
        )
        self._tell_context(number)

    def _surroundings(self, number: int, turn: Fields) -> None:
        """Read what holds from here on: the turn, the directory and the model."""
        self._begin_turn(identity(turn.get("turn_id")))
        context = msgspec.structs.replace(
            self._context,
            cwd=text(turn.get("cwd")) or self._context.cwd,
            model=text(turn.get("model")) or self._context.model,
        )
        if context != self._context:
            self._context = context
            self._tell_context(number)

    def _tell_context(self, number: int) -> None:
        """Tell where the session runs: the project is where it began, and of all else the last value holds."""
        behind = AGENT_LINES if self._agent else 0
        if self._context.cwd:
            self._fact("project", self._context.cwd, line=-number - behind)
        for name in ("branch", "model", "version", "entrypoint"):
            self._fact(name, getattr(self._context, name), line=number - behind)

    def _begin_turn(self, turn: str | None) -> None:
        if turn is not None and turn != self._turn:
            self._turn = turn
            self._said.clear()

    def _item(self, number: int, item: Fields, time: int | None) -> None:
        # Older lines are messages without saying so.
        item_type = text(item.get("type")) or ("message" if "role" in item else "")
        if item_type in _SILENT_ITEMS:
            return
        self._has_items = True
        if item_type == "message":
            self._message(number, item, time)
        elif item_type == "reasoning":
            said = messages.thought(item)
            if said.strip():
                block = Block(number=0, kind=Kind.THINKING, role=Role.ASSISTANT, text=said)
                self._add(number, "assistant", time, [block])
            else:
                self.noise["empty_thinking"] += 1
        elif item_type == "agent_message":
            # What agents of one session tell each other.
            said = messages.message_text(item.get("content"))
            if said.strip():
                block = Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=said)
                self._add(number, "user", time, [block], standing=Standing.MACHINE)
        elif item_type in _CALLS:
            block, touched = messages.call(item)
            if block.call:
                self._calls[block.call] = tools.answering(block)
                _forget(self._calls)
            self._add(number, "assistant", time, [block], touched, name=block.call and f"call {block.call}")
        elif item_type in _RESULTS:
            self._result(number, item, time)
        else:
            self._unknown_line(number, item_type, item, time)

    def _message(self, number: int, item: Fields, time: int | None) -> None:
        role = text(item.get("role")) or ""
        words = messages.classify(role, messages.message_text(item.get("content")))
        if not words.text.strip():
            return
        block = Block(number=0, kind=words.kind, role=words.role, text=words.text)
        if not words.is_listed:
            self._add(number, "assistant" if role == "assistant" else "user", time, [block])
            return
        self.records.append(
            Record(
                uuid=synthetic_uuid("listing", words.text),
                type="listing",
                line=number,
                session=self._session or None,
                agent=self._agent,
                time=time,
                context=self._context,
                standing=Standing.MACHINE,
                is_link=False,
                blocks=[block],
            )
        )

    def _result(self, number: int, item: Fields, time: int | None) -> None:
        call = identity(item.get("call_id"))
        tool = self._calls.pop(call, None) if call else None
        block = messages.result(item, tool)
        if call is None:
            self._add(number, "user", time, [block])
            return
        if not block.text.strip():
            # It makes no part, and yet nothing must wait for it any more.
            self._fact(ANSWERED, call)
        if tool == "spawn_agent" and (agent := _AGENT_ID.search(block.text)):
            self._fact("call", call, agent=agent[1])
        uuid = self._named(f"call {call}")
        self._add(number, "user", time, [block], name=f"result {call}", source_call=uuid)

    def _compacted(self, number: int, payload: Fields, time: int | None) -> None:
        """Read the summary that the conversation goes on from."""
        said = text(payload.get("message")) or ""
        blocks = [Block(number=0, kind=Kind.SUMMARY, role=Role.USER, text=said)] if said.strip() else []
        self._has_items = True
        self._add(number, "user", time, blocks, name=f"compacted {said}", is_boundary=True)

    def _event(self, number: int, event: Fields, time: int | None) -> None:
        event_type = text(event.get("type")) or ""
        if event_type in _TURNS:
            self._begin_turn(identity(event.get("turn_id")))
        elif event_type == "token_count":
            self._usage(number, mapping(event.get("info")), time)
        elif event_type in _ERRORS and (said := text(event.get("message"))):
            block = Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=said, is_error=event_type != "warning")
            self._add(number, "event", time, [block], standing=Standing.MACHINE)
        elif event_type == "thread_name_updated" and self._agent is None:
            self._fact("custom-title", text(event.get("thread_name")), line=number)
        elif event_type == "item_completed":
            for block in messages.plans(mapping(event.get("item"))):
                self._add(number, "assistant", time, [block])
        elif event_type == "mcp_tool_call_end":
            self._called_by_program(number, event, time)
        elif event_type == "collab_agent_spawn_end":
            self._fact("call", identity(event.get("call_id")), agent=identity(event.get("new_thread_id")))

    def _called_by_program(self, number: int, event: Fields, time: int | None) -> None:
        """Read a call of an MCP server that no item tells of: a program made it that the model had written."""
        call = identity(event.get("call_id"))
        if call is None or call in self._calls:
            return
        block, touched = messages.call(messages.mcp_call(mapping(event.get("invocation")), call))
        self._add(number, "assistant", time, [block], touched, name=f"call {call}")
        answer = messages.mcp_result(event.get("result"), call, tools.answering(block))
        self._add(number, "user", time, [answer], name=f"result {call}", source_call=self._named(f"call {call}"))

    def _usage(self, number: int, info: Fields, time: int | None) -> None:
        """Count the tokens of the response that has ended; those that came from the cache are among its input."""
        last = mapping(info.get("last_token_usage"))
        total = count(mapping(info.get("total_token_usage")).get("total_tokens"))
        if not last or (total and total == self._total_tokens):
            return
        self._total_tokens = total
        cached = count(last.get("cached_input_tokens"))
        usage = Usage(
            input=max(0, count(last.get("input_tokens")) - cached),
            output=count(last.get("output_tokens")),
            cache_read=cached,
        )
        uuid = self._named(f"usage {total or number}")
        self.records.append(
            Record(
                uuid=uuid,
                type="token_count",
                line=number,
                session=self._session or None,
                agent=self._agent,
                time=time,
                context=self._context,
                response=uuid,
                usage=usage,
                standing=Standing.MACHINE,
                is_link=False,
                is_forked=self._is_forked,
            )
        )

    def _unknown_line(self, number: int, line_type: str, data: Fields, time: int | None) -> None:
        """Read a type that nobody has described yet by its strings; they are never what a person typed."""
        if self._unknown < MOST_NOTED:
            self._unknown += 1
            self.problems.append(Problem(kind="unknown type", line=number, detail=line_type[:80]))
        said = strings({key: value for key, value in data.items() if key not in ("encrypted_content", "timestamp")})
        if said.strip():
            block = Block(number=0, kind=Kind.SYSTEM, role=Role.SYSTEM, text=said)
            self._add(number, line_type[:80] or "(none)", time, [block], standing=Standing.MACHINE)

    def _add(
        self,
        number: int,
        record_type: str,
        time: int | None,
        blocks: list[Block],
        touches: Iterable[Touch] = (),
        *,
        name: str | None = None,
        source_call: str | None = None,
        standing: Standing = Standing.ORIGINAL,
        is_boundary: bool = False,
    ) -> None:
        """Add a record behind the last one; it is named by what it says unless it has a better name."""
        if name is None:
            said = synthetic_uuid(record_type, *(block.text for block in blocks))
            # Taken out and put in again, so that what was said last is remembered longest.
            times = self._said.pop(said, 0) + 1
            self._said[said] = times
            _forget(self._said)
            name = f"{said} {times}"
        uuid = self._named(name)
        self.records.append(
            Record(
                uuid=uuid,
                type=record_type,
                line=number,
                session=self._session or None,
                agent=self._agent,
                parent=self._last,
                source_call=source_call,
                time=time,
                context=self._context,
                standing=standing,
                is_forked=self._is_forked,
                is_boundary=is_boundary,
                blocks=blocks,
                touches=list(touches),
            )
        )
        self._last = uuid

    def _named(self, name: str) -> str:
        """Name a record within its turn; a call may have its result in a later turn, and is known everywhere."""
        return synthetic_uuid("codex", None if name.startswith(("call ", "result ")) else self._turn, name)

    def _history(self, number: int, data: Fields) -> None:
        said, session = text(data.get("text")), identity(data.get("session_id"))
        if said is None or not said.strip() or session is None:
            return
        time = milliseconds(count(data.get("ts")) * 1000)
        self.records.append(
            Record(
                uuid=synthetic_uuid("codex history", session, str(time), said),
                type="history",
                line=number,
                session=session,
                time=time,
                standing=Standing.SIDE,
                is_link=False,
                blocks=[Block(number=0, kind=Kind.HISTORY, role=Role.USER, text=said)],
            )
        )

    def _fact(self, name: str, value: str | None, *, agent: str | None = None, line: int = 0) -> None:
        """Tell something of the session, or of an agent; what was told already is not told again."""
        of_file = self._agent if name in ("project", "branch", "model", "version", "entrypoint") else None
        agent = agent or of_file
        if not value or not self._session or (name == "call" and agent is None):
            return
        key = (self._session, agent, name, value, str(line))
        if key not in self._told:
            self._told.add(key)
            self.facts.append(Fact(session=self._session, agent=agent, name=name, value=value, line=line))


def _forget(remembered: dict[str, Any]) -> None:
    """Forget the oldest of too many."""
    if len(remembered) > MOST_REMEMBERED:
        del remembered[next(iter(remembered))]


def _is_line(data: Fields) -> bool:
    """Whether an object found beside something torn is a line, and not a part of one."""
    return isinstance(data.get("payload"), dict) and isinstance(data.get("type"), str)


def _spawn(meta: Fields) -> Fields:
    return mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))


def _parent(meta: Fields) -> str | None:
    """Return the thread that started this one as an agent."""
    return identity(meta.get("parent_thread_id")) or identity(_spawn(meta).get("parent_thread_id"))
