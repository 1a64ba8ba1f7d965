"""A result in a file that only its owner can read: transcripts hold secrets."""

import os
from collections.abc import Iterable
from pathlib import Path

import click

from searchkit.errors import UsageError
from searchkit.text.sanitize import safe


def save(path: Path, lines: Iterable[str]) -> None:
    """Write lines to a file, whole or not at all, without colours."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        try:
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.writelines(f"{safe(click.unstyle(line))}\n".encode("utf-8", "replace") for line in lines)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}", "name another file with --output") from error
