"""Builds the default model once: quantises it, compares it with the floats, keeps it in a cache file."""

import contextlib
import hashlib
import logging
import mmap
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np
from numpy.typing import NDArray

from searchkit.embed.minilm import run
from searchkit.embed.minilm.graph import Arithmetic, Array, Dense, Floats, Graph, encoder
from searchkit.embed.minilm.run import MAKER, Encoder
from searchkit.embed.tokenize import Tokens
from searchkit.errors import ModelDamaged, NotPrivate
from searchkit.system.files import check_owned

# Matrix products in bytes: a scale for each column of weights and for each column they multiply.


# Texts that were not looked at get a little larger: without this, a text in another script than all that were
# fell from a cosine of 0.995 to 0.985 with the floats.
SPARE = 1.2


class Range(msgspec.Struct, frozen=True, kw_only=True):
    """The least and the most that is multiplied, for each column; zero is always between them."""

    lowest: Array
    highest: Array


class Observing(Floats):
    """Floats, in a graph that also tells the ranges of what it multiplies, two outputs each time."""

    def multiply(self, graph: Graph, tokens: str, *by: Dense) -> list[str]:
        """Multiply, and tell the ranges of the tokens; activated ones bring theirs along, each its own."""
        columns = len(by[0][0])
        for operator in ("ReduceMin", "ReduceMax"):
            graph.tell(graph.node(operator, tokens, axes=[0], keepdims=0), (columns,))
        return super().multiply(graph, tokens, *by)


def ranges(told: Iterable[Sequence[Array]]) -> list[Range]:
    """Put together what an observing graph told of each text; one for each product, in the order of the graph."""
    outputs = [np.stack(of_texts) * np.float32(SPARE) for of_texts in zip(*told, strict=True)]
    return [
        Range(lowest=np.minimum(lowest.min(axis=0), 0), highest=np.maximum(highest.max(axis=0), 0))
        for lowest, highest in zip(outputs[::2], outputs[1::2], strict=True)
    ]


# Products in bytes: each column of weights has a scale of its own, and so has each column of what it multiplies.
#
# What is multiplied is brought into the range of bytes by scales that are known beforehand. A few columns get
# twenty times as large as the others; each is divided by the root of its size, and its weights multiplied by that,
# so that neither loses much. Scales found for each token while it runs take a third more time and have twice the
# error (a mean cosine of 0.997 with the floats, against 0.9985). They are left for what a GELU lets through,
# where one token of many is a giant; with one scale for all of those, some texts fall to a cosine of 0.9.

# Weights go from -127 to 127, and what they multiply from 0 to 255, which processors multiply fastest.
MOST_WEIGHT = 127
MOST = 255
# Of these, so many are left for what is below zero behind a GELU, which is never less than -0.17.
ACTIVATED_ZERO = 32
LEAST_ACTIVATED = 0.17
# A column of nothing but zeros still needs a scale to divide by.
LEAST = 1e-9
# And one that was hardly seen to move must not get a scale that a first movement leaves behind.
LEAST_SIZE = 1e-3


class Bytes:
    """Products in bytes, of what keeps within ranges."""

    name = "int8"

    def __init__(self, ranges: Iterable[Range]) -> None:
        """Take the range of what each product multiplies, in the order of the products."""
        self._ranges = iter(ranges)

    def look_up(self, graph: Graph, table: Array, numbers: str) -> str:
        """Look up rows, each with its scale."""
        rows, scales = _quantised(table, axis=1)
        found = graph.node("Cast", graph.node("Gather", graph.constant(rows), numbers), to=1)
        return graph.node("Mul", found, graph.node("Gather", graph.constant(scales), numbers))

    def multiply(self, graph: Graph, tokens: str, *by: Dense) -> list[str]:
        """Multiply what keeps within the next range; it is brought into bytes once for all matrices."""
        usual = next(self._ranges)
        even = _roots(usual)
        lowest, highest = float((usual.lowest / even).min()), float((usual.highest / even).max())
        scale = np.float32(max(highest - lowest, LEAST) / MOST)
        zero = graph.constant(np.uint8(round(-lowest / float(scale))))
        evened = graph.node("Mul", tokens, graph.constant(1 / even))
        in_bytes = graph.node("QuantizeLinear", evened, graph.constant(scale), zero)
        products = []
        for matrix, bias in by:
            weights, scales = _quantised(matrix * even[:, np.newaxis], axis=0)
            products.append(
                graph.node(
                    "MatMulIntegerToFloat",
                    in_bytes,
                    graph.constant(weights),
                    graph.constant(scale),
                    graph.constant(scales.reshape(-1)),
                    zero,
                    graph.constant(np.zeros(len(bias), np.int8)),
                    graph.constant(bias),
                )
            )
        return products

    def multiply_activated(self, graph: Graph, tokens: str, by: Dense) -> str:
        """Multiply with a scale for each token."""
        matrix, bias = by
        highest = graph.node("ReduceMax", tokens, axes=[1], keepdims=1)
        needed = graph.node("Mul", highest, graph.constant(np.float32(1 / (MOST - ACTIVATED_ZERO))))
        # The scales, as a column and as a list.
        column = graph.node("Max", needed, graph.constant(np.float32(LEAST_ACTIVATED / ACTIVATED_ZERO)))
        listed = graph.node("Squeeze", column, graph.constant(np.array([1])))
        zeros = graph.node("Expand", graph.constant(np.array([ACTIVATED_ZERO], np.uint8)), graph.node("Shape", listed))
        weights, scales = _quantised(matrix, axis=0)
        product = graph.node(
            "MatMulIntegerToFloat",
            graph.node("QuantizeLinear", tokens, listed, zeros, axis=0),
            graph.constant(weights),
            graph.constant(np.float32(1)),
            graph.constant(scales.reshape(-1)),
            graph.constant(np.uint8(ACTIVATED_ZERO)),
            graph.constant(np.zeros(len(bias), np.int8)),
        )
        return graph.node("Add", graph.node("Mul", product, column), graph.constant(bias))


def _roots(usual: Range) -> Array:
    """Return by what each column is divided: the root of its size, measured by that of the middle one."""
    roots: Array = np.sqrt(np.maximum(np.maximum(usual.highest, -usual.lowest), np.float32(LEAST_SIZE)))
    return roots / np.float32(np.median(roots))


def _quantised(array: Array, axis: int) -> tuple[NDArray[np.int8], Array]:
    """Return an array in bytes, and the scales of its rows or columns, whichever run along the axis."""
    scales = np.maximum(np.abs(array).max(axis=axis, keepdims=True), np.float32(LEAST)) / np.float32(MOST_WEIGHT)
    return np.rint(array / scales).astype(np.int8), scales


SAMPLES = (
    "fix it",
    "Why is the build red on CI when everything passes on my laptop?",
    "The root cause was a race: two workers opened the same temporary file, and the second one truncated it.",
    "Let me check how the session store expires its entries before I change anything.",
    "Now all 214 tests pass. I replaced the retry loop by a queue, because a failed call was counted twice.",
    "Could you make the sidebar collapse on small screens, and keep the active item in view?",
    "I'd rather not add a dependency for this; write the parser by hand, it is forty lines.",
    "Summary: the user asked for faster imports. We measured, made two modules lazy, and cut 1.8 s to 0.3 s.",
    "def mean(values: list[float]) -> float:\n    return sum(values) / len(values) if values else 0.0\n",
    "export const useDebounce = <T,>(value: T, ms = 300): T => {\n  const [held, setHeld] = useState(value);\n"
    "  useEffect(() => { const id = setTimeout(() => setHeld(value), ms); return () => clearTimeout(id); }, [value]);\n"
    "  return held;\n};",
    "impl Iterator for Lines<'_> {\n    type Item = &[u8];\n    fn next(&mut self) -> Option<Self::Item> { None }\n}",
    "SELECT s.id, count(*) FROM sessions s LEFT JOIN records r ON r.session = s.id GROUP BY s.id HAVING count(*) > 10;",
    'Traceback (most recent call last):\n  File "app/server.py", line 88, in handle\n    body = json.loads(raw)\n'
    "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
    "error[E0502]: cannot borrow `buffer` as mutable because it is also borrowed as immutable\n --> src/ring.rs:41:9",
    "TypeError: Cannot read properties of undefined (reading 'map') at Table.render (table.tsx:57:21)",
    "command: git log --oneline -20 && git diff --stat HEAD~3\ndescription: See what changed lately",
    "docker compose up -d postgres redis && npm run migrate -- --env=staging",
    "file_path: src/components/UserMenu/index.tsx\nold_string: onClick={open}\nnew_string: onClick={() => open(true)}",
    '{"name": "billing-worker", "version": "2.14.0", "scripts": {"test": "vitest run", "lint": "eslint ."}}',
    "@@ -12,7 +12,9 @@ class Cache:\n-        self.entries = {}\n+        self.entries = OrderedDict()\n"
    "+        self.limit = limit\n",
    "2026-03-01T10:04:17.221Z WARN pool exhausted after 30000 ms (active=20 idle=0 waiting=57)",
    "CONTAINER ID   IMAGE          STATUS          PORTS\n9f2c1a77be01   redis:7        Up 3 hours      6379/tcp\n",
    "drwxr-xr-x  14 dev  staff   448 Mar  1 10:04 node_modules\n-rw-r--r--   1 dev  staff  1203 Mar  1 09:58 a.ts",
    "PASS tests/parser.test.ts (3.1 s)\nFAIL tests/queue.test.ts\n  expected 3 calls, received 4\n",
    "getUserByEmailAddress HTTPServerError parse_config_file --no-verify-ssl ../lib/os/path.py:120",
    "# Release notes\n\n- Faster start\n- `--json` on every command\n\n| before | after |\n|---|---|\n| 2 s | 1 s |",
    "https://example.org/docs/v2/api/reference.html?section=auth#refresh-tokens",
    "[ERROR] 404 404 404 ---- ==== //// 0x7ffdeadbeef 3.14159 1e-9",
    "/review the last commit, but only its SQL",
    "Peux-tu corriger l'encodage des accents dans l'export ? Les données sont corrompues depuis mardi.",
    "Die Prüfung schlägt fehl, weil der Schlüssel abgelaufen ist; bitte einen neuen erzeugen.",
    "El servidor devuelve 502 cuando la cola está llena.",
    "修复登录页面的内存泄漏 然后重新运行测试。",
    "백필링 작업이 왜 두 번 실행되는지 확인해 줘.",
    "テストが時々失敗する原因を調べてください。",
    "thanks! 🎉 works now",
    "The plan has three steps. First, move the tokens into their own table, keyed by device. Second, sign in once with "
    "the old flow and write both places, so that a rollback loses nobody. Third, read only from the new table and drop "
    "the old columns after two weeks. The risk is in the second step: a device that signs in while the migration runs "
    "may be written to one place only. A unique constraint and an upsert make that harmless, and a nightly job counts "
    "the rows that differ. Nothing of this needs downtime. I have written the migration and a test that interrupts it "
    "at every statement; the only thing left is the index on last_seen, which takes about four minutes on production "
    "because the table has ninety million rows, and should be built concurrently.",
)


# A model made ready to run, kept in one file: a line that says what it is, then the graph.
#
# It is written under another name and renamed, so that a reader finds all of it or none; two
# processes that make it at once write the same. What it was not meant to be is noticed by its hash.

log = logging.getLogger(__name__)

# No line that was written here is longer.
MOST_LINE_BYTES = 4096
# Writing a model never takes so long: the process that began it was killed.
ABANDONED_SECONDS = 3600


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """What a graph was made from and with, and how near it is to its original, as a mean cosine.

    `maker` is what would make another graph, or run this one otherwise; `stamp` is that of the files of
    weights, and `weights` their hash.
    """

    maker: str
    stamp: str
    weights: str
    precision: str
    cosine: float
    graph_hash: str


def load(path: Path, is_mapped: bool = False) -> "tuple[Ready, memoryview] | None":
    """Read a model and its graph; None where there is none, or only a damaged one.

    What is mapped takes memory only for what is looked at.
    """
    try:
        _check(path)
        with path.open("rb") as file:
            ready = msgspec.json.decode(file.readline(MOST_LINE_BYTES), type=Ready)
            graph = _mapped(file) if is_mapped else memoryview(file.read())
    except FileNotFoundError:
        return None
    except NotPrivate as refusal:
        # Another user who can write there could have put another model there.
        log.warning("%s, so the model is made again every time; %s", refusal.message, refusal.hint)
        return None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        log.warning("cannot read %s, so it is rebuilt: %s", path, error)
        return None
    if graph_hash(graph) != ready.graph_hash:
        log.warning("%s is damaged, so it is rebuilt", path)
        return None
    return ready, graph


def _mapped(file: BinaryIO) -> memoryview:
    return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[file.tell() :]


def store(path: Path, ready: Ready, graph: bytes | memoryview) -> None:
    """Write a model for its owner only; where that cannot be done, it is made again the next time."""
    # A model that is kept already is only read.
    import tempfile

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_owned(path.parent, may_be_link=True)
        _clear_abandoned(path)
        # Made with mode 0600, and named like no other.
        descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(ready) + b"\n")
                file.write(graph)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
    except NotPrivate:
        # The process that looked for it has logged it.
        return
    except OSError as error:
        log.warning("cannot keep the model in %s, so it is made again every time: %s", path, error)


def _check(path: Path) -> None:
    check_owned(path.parent, may_be_link=True)
    check_owned(path)


def graph_hash(graph: bytes | memoryview) -> str:
    """Return what a graph is known by."""
    return hashlib.sha256(graph).hexdigest()


def _clear_abandoned(path: Path) -> None:
    """Remove what writers left behind that were killed."""
    for left in path.parent.glob(f"{path.name}.*.new"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                left.unlink()


# Makes the default model ready to run, once: its graph in bytes, held against the graph in floats.


# The goal of issue 5, show 2: what is further from its original is not used.
LEAST_COSINE = 0.99


def ready(model: Path, kept: Path, tokens: Tokens) -> tuple[Ready, Encoder]:
    """Open the model that is kept in a file, or make it from its directory and keep it there."""
    loaded = load(kept)
    if loaded is not None and _is_current(loaded[0], model):
        known, graph = loaded
        if known.stamp != (stamp := run.stamp(model)):
            # The same files were installed again; the next time they need not be read to know it.
            known = msgspec.structs.replace(known, stamp=stamp)
            store(kept, known, graph)
        return known, Encoder(bytes(graph))
    log.info("making the default model ready, which takes some seconds and is done once")
    return _made(model, kept, tokens)


def _is_current(known: Ready, model: Path) -> bool:
    """Say whether a model was made of these files, in the way it would be made now."""
    if known.maker != MAKER:
        return False
    return known.stamp == run.stamp(model) or known.weights == run.fingerprint(model)


def _made(model: Path, kept: Path, tokens: Tokens) -> tuple[Ready, Encoder]:
    stamp, hashed = run.stamp(model), run.fingerprint(model)
    samples = [row for text in SAMPLES if (row := tokens.numbers(text))]
    original = Encoder(_graph(model, Observing()))
    expected = original.vectors(samples)
    if not np.isfinite(expected).all():
        raise ModelDamaged("the default model's weights are no numbers to reckon with", run.REINSTALL)
    # The samples that tell how large numbers get are not those that tell whether that was enough.
    arithmetic: Arithmetic = Bytes(ranges(original.told([row])[:-1] for row in samples[::2]))
    graph = _graph(model, arithmetic)
    opened = Encoder(graph)
    cosine = float(np.mean(np.sum(expected[1::2] * opened.vectors(samples[1::2]), axis=1)))
    if cosine < LEAST_COSINE:
        log.warning(
            "quantised, the default model agrees with its original only to %.4f, so it is run as it is,"
            " which takes about twice as long",
            cosine,
        )
        arithmetic = Floats()
        graph = _graph(model, arithmetic)
        opened = Encoder(graph)
    made = Ready(
        maker=MAKER,
        stamp=stamp,
        weights=hashed,
        precision=arithmetic.name,
        cosine=cosine,
        graph_hash=graph_hash(graph),
    )
    store(kept, made, graph)
    return made, opened


def _graph(model: Path, arithmetic: Arithmetic) -> bytes:
    try:
        return encoder(run.tensors(model), run.shape(model), arithmetic)
    except (KeyError, ValueError) as error:
        raise ModelDamaged(
            f"the weights in {model} are not those of the default model: {error}", run.REINSTALL
        ) from error
