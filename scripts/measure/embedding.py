"""Embedding on the processor beside plain sentence-transformers: the same texts, in turn, each in its own process.

As a program, python -m measure.embedding NAME TEXTS PLACE, it does one of these and prints what it took as JSON.
"""

import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure.child import Outcome, run
from measure.corpora import MEGABYTE
from measure.figures import Figure
from measure.subject import Subject

# The goals of issue 5, show 2: three times as fast, and a mean cosine of 0.99.
MOST_TIME_RATIO = 1 / 3
MOST_DISTANCE = 10.0
SEED = 1
TEXTS = 150
UNTIMED_TEXTS = 8
QUESTION = "why is the build red when everything passes here"
QUESTION_ROUNDS = 5

# What a process cost, and what it told.
Result = tuple[Outcome, dict[str, Any]]


def embedding(subject: Subject) -> list[Figure]:
    """Embed some of the corpus with both, and one question in a process that has done nothing before."""
    texts, place = subject.scratch / "texts.json", subject.scratch / "embedding"
    place.mkdir(exist_ok=True)
    tokens = int(_child("texts", subject.root, texts)[1]["tokens"])
    made_ready = _child("question", texts, place)[0]
    ours, plain = _in_turn(("ours", "plain"), texts, place, subject.runs)
    # Threads that wait for each other on a busy machine spend time of processors on it; one alone does not.
    ours_alone, plain_alone = _in_turn(("ours alone", "plain alone"), texts, place, subject.runs)
    distance = 1000 * (1 - float(_child("agreement", texts, place)[1]["cosine"]))
    questions = [_child("question", texts, place)[0] for _ in range(QUESTION_ROUNDS)]
    question = statistics.median(each.seconds for each in questions)
    question_note = f"processor time {statistics.median(each.busy_seconds for each in questions) * 1000:.0f} ms"
    seconds, plain_seconds = _median(ours, "seconds"), _median(plain, "seconds")
    work, plain_work = _median(ours, "work"), _median(plain, "work")
    alone, plain_alone_work = _median(ours_alone, "work"), _median(plain_alone, "work")
    note = (
        f"{tokens / seconds:,.0f} tokens a second to {tokens / plain_seconds:,.0f}: {plain_seconds / seconds:.1f} times"
    )
    work_note = f"{tokens / work:,.0f} to {tokens / plain_work:,.0f}: {plain_work / work:.1f} times; {tokens:,} tokens"
    alone_note = f"{tokens / alone:,.0f} to {tokens / plain_alone_work:,.0f}: {plain_alone_work / alone:.1f} times"
    peak, plain_peak = (max(outcome.peak_bytes for outcome, _ in each) / MEGABYTE for each in (ours, plain))
    return [
        Figure(name="embedding, ratio of time", value=seconds / plain_seconds, goal=MOST_TIME_RATIO, note=note),
        Figure(name="embedding, ratio of processor time", value=work / plain_work, note=work_note),
        Figure(name="the same with one thread each", value=alone / plain_alone_work, note=alone_note),
        Figure(name="embedding, 1000 x (1 - mean cosine)", value=distance, goal=MOST_DISTANCE),
        Figure(
            name="embedding, peak memory", value=peak, unit="MB", note=f"sentence-transformers {plain_peak:,.0f} MB"
        ),
        Figure(name="one question, whole process", value=question * 1000, unit="ms", note=question_note),
        Figure(name="the same when the model is new", value=made_ready.seconds * 1000, unit="ms"),
    ]


def _child(name: str, source: Path, place: Path) -> Result:
    outcome = run([sys.executable, "-m", "measure.embedding", name, str(source), str(place)])
    return outcome, json.loads(outcome.output)


def _in_turn(names: tuple[str, str], texts: Path, place: Path, runs: int) -> list[list[Result]]:
    """Do both again and again, so that other load falls on both."""
    rounds = [[_child(name, texts, place) for name in names] for _ in range(runs)]
    return [list(each) for each in zip(*rounds, strict=True)]


def _median(results: list[Result], name: str) -> float:
    return statistics.median(float(told[name]) for _, told in results)


# What follows runs in a process of its own, and imports there what it needs.


def _texts(root: Path, file: Path) -> dict[str, float]:
    """Choose texts of all kinds from the corpus."""
    from tokenizers import Tokenizer

    from searchkit.embed.minilm.model import MAX_TOKENS
    from searchkit.embed.minilm.run import TOKENIZER, packaged
    from searchkit.embed.tokenize import Tokens
    from searchkit.sources.claude import ClaudeSource
    from searchkit.sources.parts import split

    changes = ClaudeSource([root]).changes({})
    found = {part.text for change in changes for record in change.records for part in split(record)}
    chosen = random.Random(SEED).sample(sorted(found), min(TEXTS, len(found)))
    file.write_text(json.dumps(chosen), encoding="utf-8")
    tokens = Tokens(Tokenizer.from_file(str(packaged() / TOKENIZER)), MAX_TOKENS)
    return {"tokens": sum(len(tokens.numbers(text)) for text in chosen)}


def _ours(texts: Path, place: Path, cores: int | None = None) -> dict[str, float]:
    """Embed with the default model as searchkit runs it."""
    from searchkit.embed.load import choose

    return _timed(choose("default", place, cores=cores).embed, texts, place / "ours.npy")


def _plain(texts: Path, place: Path, cores: int | None = None) -> dict[str, float]:
    """Embed as the library's first example does it."""
    os.environ["HF_HUB_OFFLINE"] = "1"
    if cores:
        # Read when PyTorch is imported.
        os.environ["OMP_NUM_THREADS"] = str(cores)
    from sentence_transformers import SentenceTransformer

    from searchkit.embed.minilm.run import packaged

    model = SentenceTransformer(str(packaged()), device="cpu")
    return _timed(lambda texts: model.encode(texts, normalize_embeddings=True), texts, place / "plain.npy")


def _timed(embed: Callable[[list[str]], Any], file: Path, vectors: Path) -> dict[str, float]:
    import numpy as np

    texts: list[str] = json.loads(file.read_text(encoding="utf-8"))
    embed(texts[:UNTIMED_TEXTS])
    began, began_work = time.perf_counter(), time.process_time()
    found = embed(texts)
    work, seconds = time.process_time() - began_work, time.perf_counter() - began
    np.save(vectors, found)
    return {"seconds": seconds, "work": work}


def _agreement(texts: Path, place: Path) -> dict[str, float]:
    """Compare what both have made; a text that says nothing has no vector of ours."""
    import numpy as np

    ours, plain = np.load(place / "ours.npy"), np.load(place / "plain.npy")
    cosines = np.sum(ours * plain, axis=1)[ours.any(axis=1)]
    return {"cosine": float(cosines.mean())}


def _question(texts: Path, place: Path) -> dict[str, float]:
    """Open the default model and embed one question."""
    from searchkit.embed.load import choose

    return {"length": float(len(choose("default", place).embed_query(QUESTION)))}


WORK: dict[str, Callable[[Path, Path], dict[str, float]]] = {
    "texts": _texts,
    "ours": _ours,
    "plain": _plain,
    "ours alone": lambda texts, place: _ours(texts, place, 1),
    "plain alone": lambda texts, place: _plain(texts, place, 1),
    "agreement": _agreement,
    "question": _question,
}

if __name__ == "__main__":
    print(json.dumps(WORK[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
