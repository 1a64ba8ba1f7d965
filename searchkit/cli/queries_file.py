"""Answers a file of questions in one process: a line of JSON in, a line of JSON out."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import orjson
from msgspec.structs import replace

from searchkit.errors import UsageError
from searchkit.query.filters import NAMES
from searchkit.query.parse import understand
from searchkit.render.wire.search import Batch, batch
from searchkit.search.types import Answer, SearchOptions


def answers(
    ask: Callable[[SearchOptions], Answer],
    options: SearchOptions,
    queries: Path,
    filters: Sequence[tuple[str, str]],
    is_full: bool,
) -> Iterator[Batch]:
    """Yield the answer to each question, all with the same options; what is no filter in a line is not looked at."""
    try:
        lines = queries.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(f"cannot read {queries}: {error.strerror}", "name a file of JSON lines") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        asked = _parsed(queries, number, line)
        given = [(name, value) for name in NAMES for value in _listed(asked.get(name))]
        query = understand(str(asked["query"]), filters=[*filters, *given])
        found = ask(replace(options, query=query))
        yield batch(asked.get("id"), found, is_full)


def _parsed(queries: Path, number: int, line: bytes) -> dict[str, object]:
    try:
        asked = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{queries}:{number} is not JSON: {error}", 'a line is {"id": ..., "query": ...}') from error
    if not isinstance(asked, dict) or not isinstance(asked.get("query"), str):
        raise UsageError(f"{queries}:{number} has no query", 'a line is {"id": ..., "query": ...}')
    return asked


def _listed(value: object) -> list[str]:
    if value is None:
        return []
    return [str(one) for one in value] if isinstance(value, list) else [str(value)]
