"""Runs the graph over batches of tokens with onnxruntime, on as many cores as it is given."""

import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as failures

from searchkit.embed.base import Vectors
from searchkit.embed.minilm.graph import INPUT, VERSION, Array
from searchkit.embed.minilm.weights import REINSTALL
from searchkit.errors import ModelDamaged

# The tokens of a text.
Row = Sequence[int]


def token_numbers(rows: Sequence[Row]) -> NDArray[np.int64]:
    """Return rows of one length as they are, for a graph that looks tokens up by itself."""
    return np.array(rows, np.int64)


# What so many tokens become inside a layer just stays in the cache of a core: 1,024 take a tenth more time, and fewer
# than 256 more again.
BATCH_TOKENS = 512
# Rows that batches are chosen from. The first batch waits for all of these, and the others are made meanwhile.
CHOICE_ROWS = 256


def batches(rows: Iterable[tuple[int, Row]]) -> Iterator[Mapping[int, Row]]:
    """Yield rows by their numbers, reading no further than is needed; a row without tokens is in no batch.

    Rows of a batch have exactly the same length. Padding shorter ones would fill batches better, which
    gains nothing, wastes what is padded, and needs a mask. They fill best where rows of like length come together.
    """
    left = iter(rows)
    while choice := sorted(islice(left, CHOICE_ROWS), key=lambda numbered: -len(numbered[1])):
        for length, alike in groupby(choice, key=lambda numbered: len(numbered[1])):
            size = max(1, BATCH_TOKENS // max(1, length))
            while length and (batch := dict(islice(alike, size))):
                yield batch


# Runs a graph over rows of tokens with onnxruntime, on as many cores as it is given.

# What would make another graph of the same weights, or run the same one otherwise.
MAKER = f"{VERSION}, onnxruntime {onnxruntime.__version__}, {platform.machine()}"
# How far work in the background steps back behind everything else.
NICENESS = 10
_ERRORS_ONLY = 3
_FAILURES = (
    failures.Fail,
    failures.InvalidArgument,
    failures.InvalidGraph,
    failures.InvalidProtobuf,
    failures.NotImplemented,
    failures.RuntimeException,
)


class Encoder:
    """A graph that is opened.

    Each batch runs on one core, and several run at once: sharing every product among the cores takes a
    seventh more of their time, because at each one they wait for the slowest. Nothing spins while it waits.
    """

    def __init__(self, graph: bytes, look_up: Callable[[Sequence[Row]], NDArray[Any]] = token_numbers) -> None:
        """Open a graph, or say that it is none; tokens can be looked up in a table that is not in the graph."""
        self._look_up = look_up
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        # The graph is drawn with what is fastest; more would put together an addition and a normalisation
        # into one operator that takes more than twice as long as both.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        try:
            self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        except _FAILURES as error:
            raise ModelDamaged(f"onnxruntime cannot open the model: {error}", REINSTALL) from error
        self.dimension = int(self._session.get_outputs()[-1].shape[-1])

    def vectors(self, rows: Sequence[Row]) -> Vectors:
        """Return a unit vector for each row of tokens; the zero vector for a row of none."""
        found = np.zeros((len(rows), self.dimension), np.float32)
        for numbers, vectors in map(self._made, batches(enumerate(rows))):
            found[numbers] = vectors
        return found

    def vectors_beside(
        self, rows: Iterable[tuple[int, Row]], cores: int, is_background: bool
    ) -> Iterator[tuple[list[int], Vectors]]:
        """Yield numbers of rows with their vectors, made in threads of which none is left at the end.

        Rows are read in the calling thread, and what is read of them is already worked on.
        """
        pool = ThreadPoolExecutor(cores, initializer=step_back if is_background else None)
        try:
            yield from pool.map(self._made, batches(rows))
        finally:
            # An interrupt waits for the batches that run, not for those that were to come.
            pool.shutdown(cancel_futures=True)

    def told(self, rows: Sequence[Row]) -> list[Array]:
        """Return all that the graph tells of rows of one length; their vectors come last."""
        try:
            told: list[Array] = self._session.run(None, {INPUT: self._look_up(rows)})
        except _FAILURES as error:
            raise ModelDamaged(f"onnxruntime cannot run the model: {error}", REINSTALL) from error
        return told

    def _made(self, batch: Mapping[int, Row]) -> tuple[list[int], Vectors]:
        return list(batch), self.told(list(batch.values()))[-1]


def cores_to_use() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def step_back() -> None:
    """Let everything else go first; only Linux can say that of a thread and not of the whole process."""
    if sys.platform == "linux":
        os.nice(NICENESS)
