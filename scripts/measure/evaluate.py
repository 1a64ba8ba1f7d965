"""How well the engine answers labelled questions: the share of right messages and sessions among the first ten.

A line of the file is `{"id", "type", "query", "gold": [uuids], "sessions": [ids], "lang"?}`. Questions are
asked without filters, over everything that is indexed. The figures of a whole ranking are kept for the commit
that they were measured on.

A set by name (`scripts/eval real`) comes with its transcripts, which are unpacked and indexed in the user's cache.
Its table has intervals, by type and by person; its run is kept as ids and ranks, and compared with an earlier one.
"""

import argparse
import sys
import time
from functools import partial
from pathlib import Path

import msgspec
import orjson

from measure import real, recorded
from searchkit import Engine
from searchkit.cli.commands.eval import evaluation, table
from searchkit.errors import SearchkitError, UsageError
from searchkit.query.types import Mode
from searchkit.search.evaluate import HITS, Answered, answered, homed, read, rows
from searchkit.search.weights import STEPS, without

DEPTH = 10


def main() -> int:
    """Ask everything, print the table, and keep the figures; write the run where that was asked for."""
    arguments = _arguments()
    try:
        if not arguments.queries.is_file():
            return real.main(str(arguments.queries), arguments)
        if not arguments.index:
            raise UsageError("a file of questions needs an index to ask", "name it with --index")
        return _evaluate(arguments)
    except SearchkitError as error:
        sys.exit(f"error: {error.message}\n  {error.hint}")


def _evaluate(arguments: argparse.Namespace) -> int:
    questions = read(arguments.queries)
    started = time.perf_counter()
    with Engine(arguments.index, recipe=without(arguments.without)) as engine:
        ask = partial(engine.search, limit=HITS * DEPTH, group="none", thread=0, mode=Mode(arguments.mode))
        homes = engine.homes([id for one in questions for id in one.gold])
        found = list(answered(ask, homed(questions, homes)))
    seconds = time.perf_counter() - started
    if arguments.run:
        arguments.run.write_bytes(b"".join(_line(one) for one in found))
    scored = rows(found, DEPTH)
    for line in table(scored, DEPTH):
        print(line)
    print(f"{len(questions)} questions, {seconds / len(questions) * 1000:.1f} ms each", file=sys.stderr)
    if not arguments.without:
        name = arguments.name or arguments.queries.resolve().parent.name
        types = msgspec.to_builtins(evaluation(scored, arguments.mode, DEPTH).types)
        print(recorded.record(name, arguments.mode, types), file=sys.stderr)
    return 0


def _line(one: Answered) -> bytes:
    pairs = zip(one.messages, one.sessions, strict=True)
    results = [{"uuid": uuid, "session": session} for uuid, session in pairs]
    return orjson.dumps({"id": one.question.id, "results": results}, option=orjson.OPT_APPEND_NEWLINE)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/eval", description=__doc__)
    parser.add_argument(
        "queries",
        type=Path,
        help="labelled questions, a line of JSON each; or the name or directory of a set with its transcripts (real)",
    )
    parser.add_argument("--index", help="the index to ask; that of a set is made in the user's cache")
    parser.add_argument("--against", metavar="COMMIT", default="", help="of a set: compare with the run of this commit")
    parser.add_argument("--ablation", action="store_true", help="of a set: tell what channels and steps are worth")
    parser.add_argument(
        "--shells", action="store_true", help="of a set: say whether all shells and limits give the same first results"
    )
    parser.add_argument("--run", type=Path, help="write what was found for each question, a line of JSON each")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default="hybrid", help="what is asked for")
    parser.add_argument("--name", help="what the questions are kept under (default: the directory that they are in)")
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
    sys.exit(main())
