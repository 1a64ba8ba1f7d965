"""A session of the sample: a transcript with the tools of Claude Code, and the agents it starts."""

import difflib
import textwrap
from typing import Any

from sample.text import block, hexes, prose
from sample.transcript import AGENT_MODEL, FIRST_AGENT_TOOL, HOME, LAST_PROGRESS, Json, Transcript

TODOS_WRITTEN = (
    "Todos have been modified successfully. Ensure that you continue to use the todo list to track your "
    "progress. Please proceed with the current tasks if applicable"
)
PREVIEW_CHARS = 2000
MAX_MARGIN = 24


class Session(Transcript):
    """A transcript that can call tools. Paths are given relative to the project."""

    def begin(self) -> None:
        """Open the file as the release does: a hook's progress record, or nothing at all."""
        if self.release <= LAST_PROGRESS:
            data = {"type": "hook_progress", "hookEvent": "SessionStart", "hookName": "SessionStart:startup"}
            record = self._record("progress", data={**data, "command": "scripts/env.sh"})
            call = hexes(self.key, "hook", length=12)
            self._append({**record, "toolUseID": call, "parentToolUseID": call})
        else:
            self.line("permission-mode", permissionMode="acceptEdits")

    def bash(self, command: str, description: str, output: str = "", *, code: int = 0, full: str | None = None) -> None:
        """Run a command; `full` is an output so long that only its preview is kept in the record."""
        input_ = {"command": block(command), "description": description}
        if code:
            text = f"Exit code {code}\n{block(output)}"
            self.call("Bash", input_, text, f"Error: {text}", error=True)
            return
        text = block(output)
        result: Json = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        result["noOutputExpected"] = False
        if full is not None:
            text = self._persist(full, result)
        self.call("Bash", input_, text, result)

    def slow_bash(self, command: str, description: str, steps: list[str]) -> None:
        """Run a command that reports its progress; the last step is the whole output."""
        outputs = [block(step) for step in steps]
        call_id = self.next_call_id()
        for number, text in enumerate(outputs[:-1] if self.release <= LAST_PROGRESS else []):
            data = {"type": "bash_progress", "output": text, "fullOutput": text}
            self.progress({**data, "elapsedTimeSeconds": 3 + 4 * number, "totalLines": text.count("\n") + 1}, call_id)
        self.bash(command, description, outputs[-1])

    def read(self, path: str, content: str, *, offset: int = 1, total: int | None = None) -> None:
        """Read a file or a part of it."""
        content = block(content)
        lines = content.split("\n")
        if offset == 1 and total is None:
            self.files[path] = content
        input_: Json = {"file_path": self._path(path)}
        if offset > 1 or total is not None:
            input_ |= {"offset": offset, "limit": len(lines)}
        file = {"filePath": self._path(path), "content": content, "numLines": len(lines), "startLine": offset}
        file["totalLines"] = total or len(lines)
        numbered = "\n".join(f"{offset + n:>6}→{line}" for n, line in enumerate(lines))
        self.call("Read", input_, numbered, {"type": "text", "file": file})

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a piece of a file; the result repeats the whole file, as it really does."""
        before = self.files.get(path, block(old))
        margin = _margin(block(old), before)
        old, new = textwrap.indent(block(old), margin), textwrap.indent(block(new), margin)
        after = before.replace(old, new, 1) if old in before else before
        self.files[path] = after
        place = self._path(path)
        input_ = {"replace_all": False, "file_path": place, "old_string": old, "new_string": new}
        result: Json = {"filePath": place, "oldString": old, "newString": new, "originalFile": before}
        result |= {"structuredPatch": _patch(before, after), "userModified": False, "replaceAll": False}
        self.call("Edit", input_, f"The file {place} has been updated successfully.", result)

    def write(self, path: str, content: str) -> None:
        """Create a file."""
        content = block(content) + "\n"
        self.files[path] = content
        place = self._path(path)
        result: Json = {"type": "create", "filePath": place, "content": content, "structuredPatch": []}
        result["originalFile"] = None
        text = f"File created successfully at: {place}"
        self.call("Write", {"file_path": place, "content": content}, text, result)

    def grep(self, pattern: str, output: str, **options: Any) -> None:
        """Search file contents and show the lines."""
        text = block(output)
        result = {"mode": "content", "numFiles": 0, "filenames": [], "content": text}
        result["numLines"] = text.count("\n") + 1
        self.call("Grep", {"pattern": pattern, "output_mode": "content", "-n": True, **options}, text, result)

    def glob(self, pattern: str, *names: str) -> None:
        """List the files that match a pattern."""
        paths = [self._path(name) for name in names]
        result = {"filenames": paths, "durationMs": 14, "numFiles": len(paths), "truncated": False}
        self.call("Glob", {"pattern": pattern}, "\n".join(paths) or "No files found", result)

    def fetch(self, url: str, prompt: str, answer: str) -> None:
        """Fetch a web page and ask about it."""
        text = prose(answer)
        result = {
            "bytes": 48_112,
            "code": 200,
            "codeText": "OK",
            "result": text,
            "durationMs": 3120,
            "url": url,
        }
        self.call("WebFetch", {"url": url, "prompt": prompt}, text, result)

    def todo(self, *items: str) -> None:
        """Write the todo list: `x ` opens a done item, `> ` the one under way, `  ` an open one."""
        states = {"x": "completed", ">": "in_progress", " ": "pending"}
        old = self.todos
        self.todos = [{"content": i[2:], "status": states[i[0]], "activeForm": f"Working on: {i[2:]}"} for i in items]
        self.call("TodoWrite", {"todos": self.todos}, TODOS_WRITTEN, {"oldTodos": old, "newTodos": self.todos})

    def spawn(self, kind: str, description: str, prompt: str) -> "Session":
        """Start an agent and return its transcript, to be filled and then joined."""
        agent = Session(
            self.project,
            f"{self.key}/{description}",
            self.now.isoformat(),
            release=self.release,
            branch=self.branch,
            model=AGENT_MODEL,
            slug=self.slug,
        )
        agent.session_id = self.session_id
        agent.agent_id = "a" + hexes(agent.key, "agent", length=16)
        agent.meta = {"agentType": kind, "description": description, "prompt": prose(prompt)}
        agent._append(agent._user_record(agent.meta["prompt"]))
        return agent

    def join(self, agent: "Session", answer: str) -> None:
        """Let the agent give its last answer, and take it as the result of the call that started it."""
        agent.say(answer)
        agent.end()
        self._answered_at = agent.now
        prompt = agent.meta.pop("prompt")
        call_id = self.next_call_id()
        if self.release <= LAST_PROGRESS:
            self._copy_into_progress(agent, call_id, prompt)
        calls = sum("toolu_" in str(record.get("message", {}).get("content")) for record in agent.records) // 2
        content = [{"type": "text", "text": prose(answer)}]
        tail = f"agentId: {agent.agent_id}\n<usage>total_tokens: 21480\ntool_uses: {calls}\n</usage>"
        result: Json = {
            "status": "completed",
            "prompt": prompt,
            "agentId": agent.agent_id,
            "content": content,
        }
        result |= {"totalDurationMs": 48_200, "totalTokens": 21_480, "totalToolUseCount": calls}
        kind, description = agent.meta["agentType"], agent.meta["description"]
        input_ = {"description": description, "prompt": prompt, "subagent_type": kind}
        name = "Agent" if self.release >= FIRST_AGENT_TOOL else "Task"
        self.call(name, input_, [*content, {"type": "text", "text": tail}], result)
        agent.meta["toolUseId"] = call_id
        if self.agent_id:
            agent.meta["spawnDepth"] = 2
        self.agents.append(agent)

    def _copy_into_progress(self, agent: "Session", call_id: str, prompt: str) -> None:
        """Repeat the agent's first records in the parent, as releases with progress records do."""
        for record in agent.records[:3]:
            copied = {"type": record["type"], "message": record["message"], "uuid": record["uuid"]}
            data = {"type": "agent_progress", "message": {**copied, "timestamp": record["timestamp"]}}
            self.progress({**data, "prompt": prompt, "agentId": agent.agent_id}, call_id)

    def _persist(self, full: str, result: Json) -> str:
        full = block(full) + "\n"
        name = f"{self.next_call_id()}.txt"
        self.overflow[name] = full
        place = f"{HOME}/.claude/projects/-home-mira-work-{self.project}/{self.session_id}/tool-results/{name}"
        size = f"{len(full) / 1024:.1f}KB"
        preview = full[:PREVIEW_CHARS].rsplit("\n", 1)[0]
        result |= {"stdout": preview, "persistedOutputPath": place, "persistedOutputSize": len(full)}
        return (
            f"<persisted-output>\nOutput too large ({size}). Full output saved to: {place}\n\n"
            f"Preview (first 2KB):\n{preview}\n...\n</persisted-output>"
        )

    def _path(self, path: str) -> str:
        return path if path.startswith("/") else f"{self.cwd}/{path}"


def _margin(piece: str, text: str) -> str:
    """Return the indentation that the piece has in the text, which the story files leave out."""
    for width in range(MAX_MARGIN, 0, -1):
        if "\n" + textwrap.indent(piece, " " * width) in "\n" + text:
            return " " * width
    return ""


def _patch(before: str, after: str) -> list[Json]:
    """Return the hunks of an edit in the form `structuredPatch` has."""
    old, new = before.split("\n"), after.split("\n")
    hunks = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[str] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a:b]]
                continue
            lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
        first, last = group[0], group[-1]
        hunk: Json = {"oldStart": first[1] + 1, "oldLines": last[2] - first[1]}
        hunks.append({**hunk, "newStart": first[3] + 1, "newLines": last[4] - first[3], "lines": lines})
    return hunks
