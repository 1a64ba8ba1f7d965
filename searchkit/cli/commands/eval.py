"""`searchkit eval`: says how well labelled questions are answered."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
import msgspec

from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.commands.search import MODES
from searchkit.cli.console import opened, print_json, print_lines, warn, warn_of
from searchkit.cli.options import common, rerank_option
from searchkit.engine import Engine
from searchkit.query.types import Group
from searchkit.render.wire.search import Evaluation, Scores
from searchkit.search.evaluate import HITS, Labelled, Measures, Row, answered, homed, read, rows
from searchkit.search.types import Answer
from searchkit.text.format import count
from searchkit.text.sanitize import one_line

# How well questions were answered: a table for people, fields for programs.


NAME_WIDTH = 12


def table(rows: Sequence[Row], depth: int) -> Iterator[str]:
    """Show a line for each type and language, and one for all."""
    heads = " ".join(f"{name:>5}" for name in ("h@1", "h@5", f"h@{depth}", f"r@{depth}", "mrr", "ndcg"))
    yield f"{'type':{NAME_WIDTH}} {'n':>5} | {'message':>7} {heads} | {'session':>7} {heads}"
    for row in rows:
        cells = [
            " ".join(f"{value:5.1f}" for value in msgspec.structs.astuple(half)) for half in (row.message, row.session)
        ]
        yield f"{one_line(row.name):{NAME_WIDTH}} {row.questions:5d} | {'':7} {cells[0]} | {'':7} {cells[1]}"


def evaluation(rows: Sequence[Row], mode: str, depth: int) -> Evaluation:
    """Make the same for programs, in percent."""
    types = {
        row.name: Scores(
            questions=row.questions, message=_measures(row.message, depth), session=_measures(row.session, depth)
        )
        for row in rows
    }
    return Evaluation(mode=mode, k=depth, types=types)


def _measures(half: Measures, depth: int) -> dict[str, float]:
    names = ("hit@1", "hit@5", f"hit@{depth}", f"recall@{depth}", "mrr", f"ndcg@{depth}")
    return {name: round(value, 2) for name, value in zip(names, msgspec.structs.astuple(half), strict=True)}


@click.command()
@common
@click.argument("queries", metavar="QUERIES.jsonl", type=click.Path(path_type=Path))
@click.option(
    "--mode", type=click.Choice(MODES), default="hybrid", show_default=True, help="Ask for words, meaning or both."
)
@click.option("--k", "depth", default=10, show_default=True, type=click.IntRange(5, 100), help="How many count.")
@rerank_option
def eval(queries: Path, index: str | None, as_json: bool, mode: str, depth: int, reranker: str) -> int:
    """Say how well your own labelled questions are answered.

    \b
    A line of QUERIES.jsonl is a question and the ids of the messages that answer it:
    {"query": "why was ci red", "gold": ["6733e3cb-..."], "type": "cause"}
    Optional are "type" and "lang", by which figures are also grouped, "id", and "sessions",
    which are else those of the messages.

    Told are, by message and by session, in how many questions of 100 a right one came first (h@1), among the first five
    (h@5) and ten (h@10); the share of the right ones among the first ten (r@10); the mean of 1 / place of the first
    (mrr); and nDCG@10. Filters may stand among the words of a query; other fields of a line are not looked at.
    The status is 1 where nothing right was found at all.

    \b
    --json prints {"mode", "k", "types": {"ALL": {"questions": N, "message": F, "session": F}, ...}}
    with F being {"hit@1", "hit@5", "hit@10", "recall@10", "mrr", "ndcg@10"}
    """
    asked = read(queries)
    with opened(index) as engine:
        questions = _homed(engine, asked)
        search = partial(engine.search, limit=HITS * depth, group=Group.NONE, thread=0, mode=mode, rerank=reranker)
        found = rows(answered(_telling(search), questions), depth)
    if as_json:
        print_json(evaluation(found, mode, depth))
    else:
        print_lines(table(found, depth))
    return 0 if found[-1].message.hit or found[-1].session.hit else NOTHING_FOUND


def _homed(engine: Engine, asked: list[Labelled]) -> list[Labelled]:
    """Give each question its sessions, and tell of right messages that nobody can find because they are not there."""
    wanted = list(dict.fromkeys(id for one in asked for id in one.gold))
    homes = engine.homes(wanted)
    if missing := len(wanted) - len(homes):
        warn(f"{count(missing, 'message')} of {len(wanted):,} that should be found are not in the index")
    return homed(asked, homes)


def _telling(search: Callable[[str], Answer]) -> Callable[[str], Answer]:
    """Ask as before, and say once what answers had to do without."""
    said = set()

    def ask(question: str) -> Answer:
        found = search(question)
        if (lacking := (found.without_meaning, found.unjudged)) not in said:
            warn_of(found)
            said.add(lacking)
        return found

    return ask
