"""Writes into Claude Code's settings how long it keeps transcripts, and nothing else."""

from collections.abc import Sequence
from pathlib import Path

from searchkit.cli.plugin_files import Change, copied, read, write
from searchkit.errors import UsageError
from searchkit.sources.claude.retention_settings import SETTINGS, NoSettings, longer


def to_keep(target: Path, roots: Sequence[Path], days: int) -> list[Change]:
    """Return what would change in the settings of all roots, by paths below `target`.

    The user's own settings get the number where they have none; those of a project only where they say a smaller one.
    """
    found = []
    for root in roots:
        if not root.is_dir():
            raise UsageError(f"{root} is not a directory", "name the directory that holds projects/ with --root")
        for name in SETTINGS:
            before = read(root / name)
            try:
                after = longer(before, days, is_added=name == SETTINGS[0])
            except NoSettings as error:
                hint = f"mend it by hand, or set cleanupPeriodDays to {days} in it: nothing was touched"
                raise UsageError(f"{root / name} is damaged: {error}", hint) from error
            found.append(Change(path=str((root / name).relative_to(target)), before=before, after=after))
    return [change for change in found if change.before != change.after]


def keep(target: Path, changes: Sequence[Change], copies: Path) -> Path | None:
    """Make the changes, and return where copies of the old files are; raises where a file was changed meanwhile."""
    for change in changes:
        if read(target / change.path) != change.before:
            raise UsageError(f"{target / change.path} was changed just now", "run it again: nothing was touched")
    try:
        kept = copied(target, [change for change in changes if change.before is not None], copies)
        for change in changes:
            assert change.after is not None
            # Many keep their settings elsewhere and link to them: the link stays.
            write((target / change.path).resolve(), change.after)
    except OSError as error:
        raise UsageError(f"cannot write below {target}: {error}", "see who may write there") from error
    return kept
