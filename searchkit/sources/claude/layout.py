"""Where Claude Code puts things below a root, and what each file therefore is."""

import os
import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path

from searchkit.errors import RootMissing, SourceError
from searchkit.sources.base import DEMO
from searchkit.sources.transcripts import Found, PassOver, one_file, stays_inside, walk
from searchkit.types import Origin

COPY_AGENTS = ("acompact-", "aside_question-")
SUGGESTION_AGENT = "aprompt_suggestion-"
# Claude Code cuts the name of a project directory here and appends a hash of the path.
CUT_NAME = 200
# What the directory of a workflow's run is called after, and its id.
RUN = "wf_"
# Where long texts lie that were pasted into a prompt, each named by a hash of it.
PASTES = "paste-cache"
# What a background session leaves: what it is and was asked, and what it said when.
JOB_STATE, JOB_TIMELINE = JOB_FILES = ("state.json", "timeline.jsonl")
_HASH = re.compile(r"[0-9A-Fa-f]{8,128}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class FileKind(StrEnum):
    """What a file below a root holds."""

    SESSION = "session"
    AGENT = "agent"
    JOURNAL = "journal"
    HISTORY = "history"
    TODO = "todo"
    PLAN = "plan"
    MEMORY = "memory"
    SESSIONS_INDEX = "sessions-index"
    AGENT_META = "agent-meta"
    OVERFLOW = "overflow"
    CUSTOM_TITLE = "custom-title"
    REMOTE_AGENT = "remote-agent"
    WORKFLOW = "workflow"
    JOB = "job"
    PASTE = "paste"


TRANSCRIPTS = frozenset({FileKind.SESSION, FileKind.AGENT, FileKind.JOURNAL})
GROWING = TRANSCRIPTS | {FileKind.HISTORY}


def check(root: Path) -> None:
    """Raise unless `root` is a directory that holds a readable `projects/`."""
    if not root.is_dir():
        raise RootMissing(
            f"{root} is not a directory",
            f"name the directory that holds projects/ with --root, SEARCHKIT_ROOTS or CLAUDE_CONFIG_DIR; {DEMO}",
        )
    projects = root / "projects"
    if not projects.is_dir():
        raise RootMissing(
            f"{root} holds no projects/, so there are no transcripts below it",
            f"name the directory that holds projects/ with --root (Claude Code's own is ~/.claude); {DEMO}",
        )
    if not projects.resolve().is_relative_to(root.resolve()):
        raise SourceError(
            f"{projects} is a symbolic link out of the root, which is not followed",
            f"name the directory that really holds it: --root {projects.resolve().parent}",
        )
    try:
        with os.scandir(projects) as entries:
            next(entries, None)
    except OSError as error:
        raise SourceError(
            f"cannot read {projects}: {error.strerror}",
            "give yourself permission to read it, or name another --root",
        ) from error


def found(root: Path, pass_over: PassOver = lambda path, why: None) -> Iterator[Found]:
    """Yield every file below `root` that can hold something to search; tell of what cannot be looked at, and why."""
    projects = str(root / "projects")
    for path, shape in walk(projects, str(root.resolve()), pass_over):
        # Not by `pathlib`, which takes longer than the operating system takes to list them.
        origin = _in_project(path[len(projects) + 1 :].split(os.sep))
        if origin is not None:
            yield Found(path=path, shape=shape, origin=origin)
    yield from _beside_projects(root, pass_over)


def overflow_places(path: str, origin: Origin, recorded: Sequence[str]) -> Iterator[str]:
    """Yield where the overflow file with a recorded path may lie, for a transcript at `path`.

    That is below the session that the transcript is of or lies below, or the session recorded:
    a fork names its original's files, and an agent of the old layout lies beside its session.
    """
    if not recorded:
        return
    directory = os.path.dirname(path)
    directories = [path.removesuffix(".backup").removesuffix(".jsonl"), directory]
    while origin.project_directory and os.path.basename(directory) != origin.project_directory:
        directory = os.path.dirname(directory)
        directories.append(directory)
    if len(recorded) > 2 and _UUID.fullmatch(recorded[-3]):
        directories.append(os.path.join(directory, recorded[-3]))
    for place in directories:
        candidate = os.path.join(place, "tool-results", recorded[-1])
        if os.path.isfile(candidate) and stays_inside(candidate, os.path.realpath(directory)):
            yield candidate


def paste_place(history: str, name: str) -> str | None:
    """Return where the text lies that a line of this history names by its hash; None where there is none."""
    root = os.path.dirname(history)
    path = os.path.join(root, PASTES, f"{name}.txt")
    is_there = _HASH.fullmatch(name) is not None and os.path.isfile(path)
    return path if is_there and stays_inside(path, os.path.realpath(root)) else None


def run_of(path: str) -> str | None:
    """Return the run of a workflow that a file is of, by the directory it lies in."""
    directories = os.path.dirname(path).split(os.sep)
    return next((name for name in reversed(directories) if name.startswith(RUN)), None)


def is_home_of(directory: str, cwd: str) -> bool:
    """Tell whether a project directory is the one of a working directory, which its name cannot be turned back into.

    The letter case of Windows drives varies, and a hash follows a name that was cut.
    """
    name, directory = re.sub("[^A-Za-z0-9]", "-", cwd).lower(), directory.lower()
    return directory == name or (len(name) > CUT_NAME and directory.startswith(name[:CUT_NAME] + "-"))


def _in_project(parts: Sequence[str]) -> Origin | None:
    """Classify a file by its path below `projects/`."""
    name, project = parts[-1], parts[0] if len(parts) > 1 else None
    session = next((part for part in parts[1:-1] if _UUID.fullmatch(part)), None)
    if session is not None and (kind := _of_session(name, parts[:-1], session)) is not None:
        agent = name.removeprefix("remote-agent-").removesuffix(".meta.json")
        return Origin(
            kind=kind,
            is_document=True,
            session=session,
            agent=agent if kind is FileKind.REMOTE_AGENT else None,
            project_directory=project,
        )
    if name == "sessions-index.json":
        return Origin(kind=FileKind.SESSIONS_INDEX, is_document=True, project_directory=project)
    if name.endswith(".md") and len(parts) > 2 and parts[1] == "memory":
        return Origin(kind=FileKind.MEMORY, is_document=True, project_directory=project)
    if len(parts) > 2 and parts[-2] == "tool-results":
        return Origin(kind=FileKind.OVERFLOW, is_document=True, session=session, project_directory=project)
    if name.startswith("agent-") and name.endswith(".meta.json"):
        agent = name.removeprefix("agent-").removesuffix(".meta.json")
        return Origin(
            kind=FileKind.AGENT_META,
            is_document=True,
            session=session,
            agent=agent,
            project_directory=project,
        )
    stem = name.removesuffix(".backup").removesuffix(".jsonl")
    if stem == name.removesuffix(".backup"):
        return None
    if name == "journal.jsonl" and any(part.startswith("wf_") for part in parts):
        return Origin(kind=FileKind.JOURNAL, session=session, project_directory=project)
    if stem.startswith("agent-"):
        agent = stem.removeprefix("agent-")
        return Origin(
            kind=FileKind.AGENT,
            session=session,
            agent=agent,
            project_directory=project,
            is_copy=agent.startswith(COPY_AGENTS),
        )
    return Origin(kind=FileKind.SESSION, session=stem, project_directory=project, is_copy=name.endswith(".backup"))


def _of_session(name: str, directories: Sequence[str], session: str) -> FileKind | None:
    """Tell which of the small files a file is that a session keeps in a directory of its own."""
    directory = directories[-1]
    if name == "custom-title.json":
        return FileKind.CUSTOM_TITLE if directory == session else None
    if directory == "remote-agents":
        return FileKind.REMOTE_AGENT if name.endswith(".meta.json") else None
    is_run = directory == "workflows" and name.startswith(RUN) and name.endswith(".json")
    is_script = directories[-2:] == ["workflows", "scripts"] and name.endswith(".js")
    return FileKind.WORKFLOW if is_run or is_script else None


def _beside_projects(root: Path, pass_over: PassOver) -> Iterator[Found]:
    history = str(root / "history.jsonl")
    yield from one_file(history, str(root.resolve()), Origin(kind=FileKind.HISTORY), pass_over)
    for path, shape in walk(str(root / "todos"), str(root.resolve()), pass_over, depth=1):
        session, _, agent = os.path.basename(path).removesuffix(".json").partition("-agent-")
        if path.endswith(".json"):
            origin = Origin(
                kind=FileKind.TODO,
                is_document=True,
                session=session,
                agent=None if agent in ("", session) else agent,
            )
            yield Found(path=path, shape=shape, origin=origin)
    for path, shape in walk(str(root / "tasks"), str(root.resolve()), pass_over, depth=2):
        directory, name = os.path.split(path)
        if name.endswith(".json") and not name.startswith("."):
            origin = Origin(kind=FileKind.TODO, is_document=True, session=os.path.basename(directory))
            yield Found(path=path, shape=shape, origin=origin)
    for path, shape in walk(str(root / "plans"), str(root.resolve()), pass_over, depth=1):
        if path.endswith(".md"):
            yield Found(path=path, shape=shape, origin=Origin(kind=FileKind.PLAN, is_document=True))
    for path, shape in walk(str(root / "jobs"), str(root.resolve()), pass_over, depth=2):
        if os.path.basename(path) in JOB_FILES:
            yield Found(path=path, shape=shape, origin=Origin(kind=FileKind.JOB, is_document=True))
    for path, shape in walk(str(root / PASTES), str(root.resolve()), pass_over, depth=1):
        if path.endswith(".txt"):
            yield Found(path=path, shape=shape, origin=Origin(kind=FileKind.PASTE, is_document=True))
