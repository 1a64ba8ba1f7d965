"""Many steps on one line: what was read, changed and run, and which files it was about."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from searchkit.backends.base import Step
from searchkit.sources import tools
from searchkit.text.format import count, last_part
from searchkit.text.sanitize import one_line
from searchkit.text.secrets import is_revealed, mask, masked
from searchkit.types import Kind

_KINDS = {Kind.TEXT: "remark", Kind.THINKING: "thought", Kind.SUMMARY: "summary", Kind.PLAN: "plan"}
# What belongs to a call or to a command that was typed: it is named only where there is nothing else.
_REST = {Kind.TOOL_RESULT: "result", Kind.COMMAND: "text"}
_PLURALS = {"search": "searches", "web search": "web searches", "summary": "summaries"}
# Files that are named; those that were changed come first.
MOST_FILES = 3


def describe(steps: Sequence[Step]) -> str:
    """Write steps as counts, the files they were about, and how many failed."""
    parts = [count(several, name, _PLURALS.get(name)) for name, several in _named(steps).items()]
    failed = sum(step.is_error for step in steps if step.kind is Kind.TOOL_RESULT)
    files = list(_files(steps))
    about = f": {', '.join(map(mask, files[:MOST_FILES]))}" if files else ""
    more = f" and {len(files) - MOST_FILES:,} more" if len(files) > MOST_FILES else ""
    return ", ".join(parts) + about + more + (f" ({failed:,} failed)" if failed else "")


def count_steps(steps: Sequence[Step]) -> int:
    """Count steps as they are named: a call and its result are one."""
    return _named(steps).total()


def _named(steps: Sequence[Step]) -> Counter[str]:
    named = Counter(name for step in steps if (name := _name(step)))
    return named or Counter(_REST[step.kind] for step in steps if step.kind in _REST)


def _name(step: Step) -> str | None:
    return _called(step.tool or "", is_revealed()) if step.kind is Kind.TOOL_CALL else _KINDS.get(step.kind)


# A search folds hundreds of steps of a few tools.
@lru_cache(1024)
def _called(tool: str, is_revealed: bool) -> str:
    return tools.noun(one_line(tool if is_revealed else masked(tool).text))


def _files(steps: Sequence[Step]) -> Iterator[str]:
    """Yield the names of files, each once: what was changed, then what was read."""
    touched = [step for step in steps if step.path]
    paths = [step.path for step in touched if tools.changes_files(step.tool)] + [step.path for step in touched]
    yield from dict.fromkeys(one_line(last_part(path)) for path in paths if path)
