"""How well the engine answers labelled questions: the share of right messages and sessions among the first ten.

A line of the file is `{"id", "type", "query", "gold": [uuids], "sessions": [ids], "lang"?}`. Questions are
asked without filters, over everything that is indexed.
"""

import argparse
import json
import math
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from searchkit import Engine
from searchkit.errors import SearchkitError
from searchkit.questions import Mode
from searchkit.recipe import STEPS, without

DEPTH = 10
# More than ten hits, since several can be of one message.
HITS = 30
COLUMNS = ("h@1", "h@5", "h@10", "r@10", "mrr", "ndcg")


def main() -> int:
    """Ask everything, print the table, and write the run where that was asked for."""
    arguments = _arguments()
    queries = [json.loads(line) for line in arguments.queries.read_text(encoding="utf-8").splitlines() if line.strip()]
    started = time.perf_counter()
    with Engine(arguments.index, recipe=without(arguments.without)) as engine:
        runs = {query["id"]: _ask(engine, query["query"], Mode(arguments.mode)) for query in queries}
    seconds = time.perf_counter() - started
    if arguments.run:
        lines = (json.dumps({"id": id, "results": results}) + "\n" for id, results in runs.items())
        arguments.run.write_text("".join(lines), encoding="utf-8")
    for line in table(queries, runs):
        print(line)
    print(f"{len(queries)} questions, {seconds / max(1, len(queries)) * 1000:.1f} ms each", file=sys.stderr)
    return 0


def table(queries: Iterable[dict[str, Any]], runs: dict[str, list[dict[str, Any]]]) -> Iterable[str]:
    """Yield the figures by language and type, and over all, by message and by session."""
    rows: dict[str, list[list[float]]] = defaultdict(list)
    for query in queries:
        found = runs.get(query["id"], [])
        row = measures([one["uuid"] for one in found], set(query["gold"]))
        row += measures([one["session"] for one in found], set(query["sessions"]))
        for name in (query.get("lang"), query["type"], "ALL"):
            if name:
                rows[name].append(row)
    heads = " ".join(f"{name:>5}" for name in COLUMNS)
    yield f"{'type':12} {'n':>5} | {'message':>7} {heads} | {'session':>7} {heads}"
    for name in sorted(rows, key=lambda one: (one == "ALL", one)):
        mean = [100 * sum(column) / len(rows[name]) for column in zip(*rows[name], strict=True)]
        cells = [" ".join(f"{value:5.1f}" for value in half) for half in (mean[:6], mean[6:])]
        yield f"{name:12} {len(rows[name]):5d} | {'':7} {cells[0]} | {'':7} {cells[1]}"


def measures(ranked: Sequence[str], gold: set[str]) -> list[float]:
    """Return hit@1, hit@5, hit@10, recall@10, the reciprocal rank and nDCG@10 of one answer."""
    places = [place for place, one in enumerate(list(dict.fromkeys(ranked))[:DEPTH], 1) if one in gold]
    first = places[0] if places else 0
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(gold), DEPTH) + 1))
    gained = sum(1 / math.log2(place + 1) for place in places)
    hits = [float(0 < first <= depth) for depth in (1, 5, 10)]
    return [*hits, len(places) / len(gold), 1 / first if first else 0.0, gained / ideal]


def _ask(engine: Engine, question: str, mode: Mode) -> list[dict[str, Any]]:
    found = engine.search(question, HITS, is_grouped=False, turns=0, mode=mode)
    return [
        {"uuid": one.best.stored.part.uuid, "session": one.best.stored.link.places[0].session} for one in found.results
    ]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/eval", description=__doc__)
    parser.add_argument("queries", type=Path, help="labelled questions, a line of JSON each")
    parser.add_argument("--index", required=True, help="the index to ask")
    parser.add_argument("--run", type=Path, help="write what was found for each question, a line of JSON each")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default="hybrid", help="what is asked for")
    parser.add_argument(
        "--without",
        metavar="STEP",
        action="append",
        default=[],
        choices=STEPS,
        help=f"leave a step of the ranking out, to see what it is worth: {', '.join(STEPS)}",
    )
    return parser.parse_args()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except SearchkitError as error:
        sys.exit(f"error: {error.message}\n  {error.hint}")
