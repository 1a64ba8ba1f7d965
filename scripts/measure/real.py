"""How well a set of labelled questions by name is answered, by type and by person, and against an earlier commit."""

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from measure import labelled_set, runs, shells
from searchkit import Engine
from searchkit.query.types import Mode
from searchkit.search.evaluate import HITS
from searchkit.search.types import Result
from searchkit.search.weights import RECIPE, STEPS, Recipe, without

DEPTH = 10
# What the ranking weighed before it was tuned on real transcripts. The index, its vectors and the rules are today's.
OLD_WEIGHTS = {
    "meaning": 0.3,
    "meaning_of_names": 0.1,
    "word_power": 1.0,
    "coverage_power": 0.5,
    "of_before": 0.2,
    "of_conclusion": 1.0,
    "are_words_filled": False,
}


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a set; the session of a subagent is called by its agent."""

    id: str
    type: str
    query: str
    gold: tuple[str, ...]
    sessions: tuple[str, ...]
    repo: str = ""


def main(name: str, arguments: argparse.Namespace) -> int:
    """Ask everything, print the tables, and keep the run."""
    directory = labelled_set.find(name)
    index = arguments.index or labelled_set.index(directory)
    lines = (directory / labelled_set.QUESTIONS).read_bytes().splitlines()
    questions = [msgspec.json.decode(line, type=Question) for line in lines if line.strip()]
    if arguments.shells:
        for line in shells.compare(Path(index), [(question.id, question.query) for question in questions]):
            print(line, flush=True)
        return 0
    mode = Mode(arguments.mode)
    started = time.perf_counter()
    run = answers(index, questions, without(arguments.without), mode)
    print(f"{(time.perf_counter() - started) / len(questions) * 1000:.1f} ms each", file=sys.stderr)
    for line in runs.table(run, _groups(questions)):
        print(line)
    ids = [question.id for question in questions]
    other = runs.earlier(directory.name, arguments.against)
    if other is not None:
        print(f"\nagainst {other.stem.removeprefix(f'{directory.name}-')}")
        for line in runs.differences(run, runs.load(other), ids):
            print(line)
    if arguments.ablation:
        print()
        for line in _ablation(index, questions, run):
            print(line, flush=True)
    if not arguments.without and mode is Mode.HYBRID:
        print(runs.keep(directory.name, run), file=sys.stderr)
    return 0


def answers(index: Path | str, questions: Sequence[Question], recipe: Recipe, mode: Mode) -> dict[str, runs.Ranks]:
    """Ask all questions, and say where the first right answers came."""
    with Engine(index, recipe=recipe) as engine:
        return {
            question.id: _ranks(
                question, engine.search(question.query, HITS * DEPTH, group="none", thread=0, mode=mode).results
            )
            for question in questions
        }


def _ranks(question: Question, results: Iterable[Result]) -> runs.Ranks:
    found = [one.best.stored for one in results]
    sessions = (_session(one.link.places[0].session, one.link.places[0].agent) for one in found)
    return runs.Ranks(
        message=_first((one.part.uuid for one in found), question.gold),
        session=_first(sessions, question.sessions),
    )


def _session(session: str | None, agent: str | None) -> str | None:
    return session if agent is None else f"agent-{agent.removeprefix('agent-')}"


def _first(found: Iterable[str | None], right: Sequence[str]) -> int | None:
    """Return the rank of the first right one among the first ten different ones."""
    distinct = list(dict.fromkeys(found))[:DEPTH]
    return next((rank for rank, one in enumerate(distinct, 1) if one in right), None)


def _groups(questions: Sequence[Question]) -> Mapping[str, Sequence[str]]:
    """Group questions by type and by person; persons have numbers, since names are nobody's business here."""
    people = {repo: f"person {number}" for number, repo in enumerate(sorted({one.repo for one in questions}), 1)}
    groups: dict[str, list[str]] = {}
    for name in (*sorted({one.type for one in questions}), *people.values(), "ALL"):
        groups[name] = [one.id for one in questions if name in (one.type, people[one.repo], "ALL")]
    return groups


def _ablation(index: Path | str, questions: Sequence[Question], run: runs.Run) -> Iterable[str]:
    """Tell what each channel alone, each step left out, and the old weights are worth."""
    ids = [question.id for question in questions]
    paraphrases = [question.id for question in questions if question.type == "paraphrase"] or ids
    trials = {
        "words alone": (RECIPE, Mode.KEYWORD),
        "meaning alone": (RECIPE, Mode.SEMANTIC),
        "old weights": (msgspec.structs.replace(RECIPE, **OLD_WEIGHTS), Mode.HYBRID),
        **{f"without {step}": (without([step]), Mode.HYBRID) for step in STEPS},
    }
    yield "| | hit@1 | hit@10 | MRR | paraphrase hit@10 | MRR against all of it |"
    yield "|---|---|---|---|---|---|"
    yield _ablated("all of it", run, run, ids, paraphrases)
    for name, (recipe, mode) in trials.items():
        yield _ablated(name, answers(index, questions, recipe, mode), run, ids, paraphrases)


def _ablated(name: str, trial: runs.Run, run: runs.Run, ids: Sequence[str], paraphrases: Sequence[str]) -> str:
    cells = [runs.mean(trial, ids, measure) for measure in ("hit@1", "hit@10", "mrr")]
    cells.append(runs.mean(trial, paraphrases, "hit@10"))
    change = runs.change(trial, run, ids, "mrr") if trial is not run else ""
    return f"| {name} | {' | '.join(f'{cell:.1f}' for cell in cells)} | {change} |"
