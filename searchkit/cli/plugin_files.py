"""Installs the plugin for Claude Code, removes it, and changes settings: shown first, asked, then done."""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from difflib import unified_diff
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

import click
import msgspec

from searchkit.cli.console import audience, must_be_own, print_json, print_lines, say
from searchkit.cli.options import Command, common
from searchkit.errors import UsageError
from searchkit.render.wire.health import Changes, FileChange
from searchkit.sources.apps import APPS
from searchkit.system import paths
from searchkit.text.sanitize import safe

# Puts the plugin where Claude Code finds it, and takes it away again: one directory, and no file of the user's.
#
# A directory below `skills/` that holds a plugin's manifest is loaded as a plugin, so nothing has to be written into
# settings. What was put there is written down beside it, so that only that is taken away.

NAME = "searchkit"
MANIFEST = ".claude-plugin/plugin.json"
SERVERS = ".mcp.json"
RECEIPT = ".claude-plugin/installed.json"
# What a search or an editor leaves behind is no part of the plugin.
_IGNORED = ("__pycache__", ".DS_Store")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of a file, by its path below the plugin; None is no file."""

    path: str
    before: bytes | None
    after: bytes | None

    @property
    def kind(self) -> str:
        """Say in a word what happens."""
        return "create" if self.before is None else "remove" if self.after is None else "replace"

    def diff(self) -> list[str]:
        """Show it line by line."""
        old, new = ((text or b"").decode(errors="replace").splitlines() for text in (self.before, self.after))
        names = (self.path if self.before is not None else "none", self.path if self.after is not None else "none")
        return list(unified_diff(old, new, *names, lineterm="", n=2))


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """What was put there: a digest for each file, and the directories that were made for it, the outermost first."""

    files: dict[str, str]
    made: list[str]


def home(environment: Mapping[str, str]) -> Path:
    """Return the directory of Claude Code's configuration."""
    app = APPS["claude"]
    return Path(paths.absolute(environment.get(app.variable) or app.home, environment))


def place(environment: Mapping[str, str]) -> Path:
    """Return where the plugin goes."""
    return home(environment) / "skills" / NAME


def to_install(target: Path, index: str | None) -> list[Change]:
    """Return what installing would change; nothing where all is as it should be."""
    _must_be_ours(target)
    wanted = _plugin(index)
    earlier = _receipt(target)
    # What an earlier version brought, and this one does not.
    outdated = [path for path in (earlier.files if earlier else {}) if path not in wanted]
    changes = [Change(path=path, before=read(target / path), after=text) for path, text in wanted.items()]
    changes += [Change(path=path, before=read(target / path), after=None) for path in outdated]
    return [change for change in changes if change.before != change.after]


def to_uninstall(target: Path) -> list[Change]:
    """Return what uninstalling would change: whatever was installed, and nothing else."""
    _must_be_ours(target)
    receipt = _receipt(target)
    if receipt is None:
        return []
    found = [Change(path=path, before=read(target / path), after=None) for path in (*receipt.files, RECEIPT)]
    return [change for change in found if change.before is not None]


def install(target: Path, changes: Sequence[Change], copies: Path) -> Path | None:
    """Make the changes, the manifest last, for without it nothing is loaded; return where copies of old files are."""
    earlier = _receipt(target)
    try:
        made = [*(earlier.made if earlier else []), *_make(target)]
        kept = copied(target, [change for change in changes if change.before is not None], copies)
        files = (earlier.files if earlier else {}) | {one.path: _digest(one.after) for one in changes}
        _make((target / RECEIPT).parent)
        # Before anything else: what a crash leaves behind can be taken away, too.
        write(target / RECEIPT, _written(Receipt(files=files, made=made)))
        for change in sorted(changes, key=lambda one: one.path == MANIFEST):
            if change.after is None:
                (target / change.path).unlink(missing_ok=True)
            else:
                _make((target / change.path).parent)
                write(target / change.path, change.after)
        gone = {one.path for one in changes if one.after is None}
        if gone:
            left = {path: digest for path, digest in files.items() if path not in gone}
            write(target / RECEIPT, _written(Receipt(files=left, made=made)))
    except OSError as error:
        raise UsageError(f"cannot write below {target}: {error}", "see who may write there") from error
    return kept


def uninstall(target: Path, changes: Sequence[Change], copies: Path) -> Path | None:
    """Take away what was installed, the manifest first; what somebody changed since is copied before."""
    receipt = _receipt(target)
    assert receipt is not None
    edited = [one for one in changes if one.path != RECEIPT and _digest(one.before) != receipt.files[one.path]]
    try:
        kept = copied(target, edited, copies)
        # The receipt last: what is left after a crash is still known to be ours.
        for change in sorted(changes, key=lambda one: (one.path == RECEIPT, one.path != MANIFEST)):
            (target / change.path).unlink(missing_ok=True)
        # Without the last parent, the plugin's own directory: that may have been there before.
        ours = {target / parent for path in (*receipt.files, RECEIPT) for parent in PurePosixPath(path).parents[:-1]}
        for directory in sorted(ours | {Path(one) for one in receipt.made}, key=lambda one: -len(one.parts)):
            # What holds something of somebody else's stays.
            with suppress(OSError):
                directory.rmdir()
    except OSError as error:
        raise UsageError(f"cannot write below {target}: {error}", "see who may write there") from error
    return kept


def copies_directory(environment: Mapping[str, str]) -> Path:
    """Return where copies go: not into Claude Code's directory, which is to be as it was."""
    moment = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S-%f")
    return Path(paths.user_directory("data", environment)) / f"{NAME}-copies" / moment


def command() -> list[str]:
    """Return what starts the program that is running now, from anywhere."""
    beside = Path(sys.executable).with_name(f"{NAME}.exe" if sys.platform == "win32" else NAME)
    return [str(beside)] if beside.is_file() else [sys.executable, "-P", "-m", "searchkit.__main__"]


def _plugin(index: str | None) -> dict[str, bytes]:
    """Return the files of the plugin; the server is started by its whole path, for a shell's may not be Claude's."""
    files = dict(_below(resources.files("searchkit") / "plugin", PurePosixPath()))
    servers = json.loads(files[SERVERS])
    program, *arguments = command()
    servers["mcpServers"][NAME]["command"] = program
    chosen = ["--index", paths.absolute(index, os.environ)] if index else []
    servers["mcpServers"][NAME]["args"] = [*arguments, "mcp", *chosen]
    files[SERVERS] = json.dumps(servers, indent=2).encode() + b"\n"
    return files


def _below(directory: Traversable, path: PurePosixPath) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in sorted(directory.iterdir(), key=lambda one: one.name):
        if entry.name in _IGNORED:
            continue
        below = path / entry.name
        found += _below(entry, below) if entry.is_dir() else [(str(below), entry.read_bytes())]
    return found


def _must_be_ours(target: Path) -> None:
    """Refuse a place that holds something else, or that cannot be understood."""
    hint = "move it away, or leave it: nothing was touched"
    if target.is_symlink():
        raise UsageError(f"{target} is a link to {target.readlink()}, which was not made by this command", hint)
    if not target.exists():
        return
    manifest = read(target / MANIFEST)
    if manifest is None:
        if _receipt(target) is None and any(target.iterdir()):
            raise UsageError(f"{target} holds something that is not this plugin", hint)
        return
    try:
        held = json.loads(manifest)
    except ValueError as error:
        raise UsageError(
            f"{target / MANIFEST} is no JSON: {error}", "mend or remove it: nothing was touched"
        ) from error
    if not isinstance(held, dict) or held.get("name") != NAME:
        raise UsageError(f"{target} holds another plugin", hint)
    if _receipt(target) is None:
        raise UsageError(f"{target} was put there by somebody else", hint)


def _receipt(target: Path) -> Receipt | None:
    written = read(target / RECEIPT)
    if written is None:
        return None
    try:
        receipt = msgspec.json.decode(written, type=Receipt)
    except msgspec.MsgspecError as error:
        hint = f"remove {target} by hand: nothing was touched"
        raise UsageError(f"{target / RECEIPT} does not say what was installed: {error}", hint) from error
    outside = [path for path in receipt.files if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts]
    above = [one for one in receipt.made if Path(one) not in (target, *target.parents)]
    if outside or above:
        raise UsageError(f"{target / RECEIPT} names other places: {(outside + above)[0]}", "nothing was touched")
    return receipt


def _written(receipt: Receipt) -> bytes:
    return msgspec.json.format(msgspec.json.encode(receipt), indent=2) + b"\n"


def read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}", "nothing was touched") from error


def _make(directory: Path) -> list[str]:
    """Make a directory and those above it; return those that were not there, the outermost first."""
    missing = [one for one in (directory, *directory.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    return [str(one) for one in reversed(missing)]


def write(path: Path, text: bytes) -> None:
    """Put a file into place at once, with the mode it had; a new one is its owner's."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(text)
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def copied(target: Path, changes: Sequence[Change], copies: Path) -> Path | None:
    if not changes:
        return None
    for change in changes:
        kept = copies / change.path
        kept.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        shutil.copy2(target / change.path, kept)
    return copies


def _digest(text: bytes | None) -> str:
    return hashlib.sha256(text or b"").hexdigest()


# How commands that change files of an agent do so: shown first, asked, and done.

_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """What there was to change and where, and whether it was done."""

    target: Path
    changes: Sequence[Change]
    is_done: bool


def changing_options(command: Command) -> Command:
    """Add whom a change is for, and how sure one is of it."""
    return sure_options(click.argument("agent", type=click.Choice(["claude"]))(command))


def sure_options(command: Command) -> Command:
    """Add how sure one is of a change."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Only show what would be changed."),
        click.option("--yes", is_flag=True, help="Do it without asking."),
        common,
    ):
        command = option(command)
    return command


def change(
    plan: Callable[[Path], Sequence[Change]],
    carry_out: Callable[[Path, Sequence[Change], Path], Path | None],
    *,
    as_json: bool,
    yes: bool,
    dry_run: bool,
    target: Path | None = None,
) -> Changed:
    """Show what a plan would change, where the plugin goes or elsewhere, and do it if that is wanted."""
    must_be_own()
    if as_json and not (yes or dry_run):
        raise UsageError("with --json nothing is shown before it is changed", "add --dry-run to see it, or --yes")
    environment = audience().environment
    target = target or place(environment)
    changes = plan(target)
    if not as_json:
        for one in changes:
            print_lines(_coloured(line) for line in one.diff())
    is_done = bool(changes) and not dry_run and (yes or _confirmed())
    kept = carry_out(target, changes, copies_directory(environment)) if is_done else None
    if as_json:
        shown = [FileChange(path=one.path, change=one.kind, diff=one.diff()) for one in changes]
        copies = str(kept) if kept else None
        print_json(Changes(target=str(target), changes=shown, is_done=is_done, copies=copies))
    elif kept:
        say(f"Copies of what was there are in {kept}.")
    return Changed(target=target, changes=changes, is_done=is_done)


def _coloured(line: str) -> str:
    return click.style(safe(line), fg=_COLOURS.get(line[:1]))


def _confirmed() -> bool:
    if not sys.stdin.isatty():
        raise UsageError("this asks before it changes anything, and there is no terminal to ask at", "add --yes")
    return click.confirm("Do it?", err=True)
