"""`searchkit search`: finds messages."""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from searchkit.backends.base import Order
from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.console import (
    audience,
    is_own,
    must_be_own,
    opened,
    page_lines,
    print_json,
    print_json_lines,
    print_lines,
    say,
    warn_of,
)
from searchkit.cli.options import (
    Question,
    common,
    filter_options,
    rerank_option,
    reveal_option,
    understood,
    words_argument,
)
from searchkit.cli.session_argument import remember
from searchkit.engine import Engine
from searchkit.errors import SourceError, UsageError
from searchkit.query.filters import NAMES
from searchkit.query.parse import understand
from searchkit.query.types import Group, Mode
from searchkit.render import search as answer
from searchkit.search.types import Answer, SearchOptions

if TYPE_CHECKING:
    from searchkit.render.wire.search import Batch


MODES = [mode.value for mode in Mode]
# Given the enumeration itself, click would want the names of its members.
ORDERS = [order.value for order in Order]
GROUPS = [group.value for group in Group]
# Results where nobody says how many.
LIMIT = 10
# Lines of a screen that the command, what is said below the results and the next prompt take.
ROWS_BESIDE = 4


@click.command(cls=Question)
@common
@reveal_option
@words_argument(is_required=False)
@filter_options
@click.option(
    "--mode",
    type=click.Choice(MODES),
    default=lambda: audience().environment.get("SEARCHKIT_MODE") or Mode.HYBRID.value,
    show_default=Mode.HYBRID.value,
    help="Ask for words (keyword), for meaning (semantic), or for both.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, 1000),
    help="How many results; else 10, and on a terminal the first of them, as many as fit.",
)
@click.option(
    "--thread",
    "turns",
    show_default="1",
    type=click.IntRange(0, 50),
    help="Turns around a hit: none, its own, or more before and after it.",
)
@click.option("--group", type=click.Choice(GROUPS), help="One result a session, or, as with --queries, every hit.")
@click.option("--facets", metavar="NAMES", default="", help="Count all matches by these: project,tool,kind,month, ...")
@click.option("--sort", type=click.Choice(ORDERS), default=ORDERS[0], show_default=True, help="What comes first.")
@click.option("--explain", is_flag=True, help="Show how the question was understood and why results rank as they do.")
@click.option("--full", is_flag=True, help="With --json, give whole texts.")
@click.option("--queries", metavar="FILE", type=click.Path(path_type=Path), help="Answer many, a JSON line each.")
@rerank_option
def search(
    words: tuple[str, ...],
    index: str | None,
    as_json: bool,
    filters: list[tuple[str, str]],
    mode: str,
    limit: int | None,
    turns: int | None,
    group: str | None,
    facets: str,
    sort: str,
    explain: bool,
    full: bool,
    queries: Path | None,
    reranker: str,
) -> int:
    """Find messages by words and meaning.

    WORDS are words, "exact phrases", +required, -excluded (or NOT excluded), this OR that, prefix*, fuzzy~, /pattern/,
    and filters such as project:shop, kind:prompt, after:7d.
    """
    options = SearchOptions(
        mode=Mode(mode),
        limit=limit or LIMIT,
        # Without a choice, a person is shown sessions, and a program that asks many questions gets every hit.
        group=Group(group or ("session" if queries is None else "none")),
        sort=Order(sort),
        thread=1 if turns is None else turns,
        facets=[name.strip() for name in facets.split(",") if name.strip()],
        rerank=reranker,
    )
    with opened(index) as engine:
        if queries is not None or reranker:
            must_be_own()
        if queries is not None:
            if words or facets:
                raise UsageError("--queries takes its words from the file, and counts no facets", "leave them out")

            print_json_lines(answers(engine.answer, options, queries, filters, full))
            return 0
        options = replace(options, query=understood(words, filters))
        if not words and not filters:
            raise UsageError("there is nothing to search for", "give words, or a filter such as kind:plan")
        if engine.asks_meaning(options) and is_own() and audience().is_watching:
            say("Loading what finds by meaning, which takes seconds; the next search answers at once.")
        found = engine.answer(options)
        warn_of(found)
        if as_json:
            from searchkit.render.wire import search as wire

            print_json(wire.answer(found, options.mode.value, full))
        else:
            if found.results:
                remember(engine.settings.index, found.results)
            rows = audience().rows
            number = None
            if rows and found.results and limit is None and turns is None and not (explain or facets):
                fitted = answer.fitted(found, audience().width, rows - ROWS_BESIDE, time.time())
                number = len(fitted)
                print_lines(line for lines in fitted for line in lines)
            else:
                lines = chain(
                    answer.answer(found, audience().width, time.time(), explain),
                    answer.facets(found, audience().width),
                )
                (page_lines if found.results else print_lines)(lines)
            if not found.results:
                say(*answer.reasons(found, engine.values, files_behind(engine)))
            else:
                say(*answer.remarks(found))
                if (
                    not engine.has_vectors()
                    and options.mode is Mode.HYBRID
                    and audience().is_watching
                    and wants_vectors()
                ):
                    say("Found by words only: searchkit index lets meaning be found, too.")
                if audience().is_watching:
                    say(answer.footer(found, index, number))
    return 0 if found.results else NOTHING_FOUND


def wants_vectors() -> bool:
    """Say whether nobody decided to do without vectors."""
    return not audience().environment.get("SEARCHKIT_NO_VECTORS")


def files_behind(engine: Engine) -> int:
    """Count what is newer than the index; where the transcripts cannot be looked at, nothing is known to be."""
    try:
        return engine.behind().files
    except SourceError:
        return 0


# Answers a file of queries in one process: a line of JSON in, a line of JSON out.


def answers(
    ask: Callable[[SearchOptions], Answer],
    options: SearchOptions,
    queries: Path,
    filters: Sequence[tuple[str, str]],
    is_full: bool,
) -> "Iterator[Batch]":
    """Yield the answer to each question, all with the same options; what is no filter in a line is not looked at."""
    # What people read is printed without it.
    from searchkit.render.wire.search import batch

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
    # A search of a person reads no JSON.
    import orjson

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
