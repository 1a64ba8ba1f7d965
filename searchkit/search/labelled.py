"""Questions with their right answers, as a person wrote them down: a line of JSON each."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from searchkit.errors import UsageError

FORM = (
    'a line is {"query": "...", "gold": [ids of messages], "sessions"?: [ids], "type"?: "...", "lang"?: "...", "id"?}'
)


class Labelled(msgspec.Struct, frozen=True, kw_only=True):
    """A question, the messages that answer it, and their sessions; figures are told by type and by language."""

    query: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...] = ()
    type: str | None = None
    lang: str | None = None
    id: str | int | None = None


def read(path: Path) -> list[Labelled]:
    """Read all questions of a file; what is wrong is told with its line."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", f"name a file of JSON lines: {FORM}") from error
    found = list(_questions(path, lines))
    if not found:
        raise UsageError(f"{path} holds no questions", FORM)
    return found


def _questions(path: Path, lines: list[bytes]) -> Iterator[Labelled]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=Labelled)
        except msgspec.ValidationError as error:
            raise UsageError(f"{path}:{number}: {error}", FORM) from error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}:{number} is not JSON: {error}", FORM) from error
        if not found.query.strip() or not found.gold:
            lacking = "gold names no message" if found.query.strip() else "the query is empty"
            raise UsageError(f"{path}:{number}: {lacking}", FORM)
        yield found if found.id is not None else msgspec.structs.replace(found, id=number)
