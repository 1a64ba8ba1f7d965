"""The graph of a BERT encoder with mean pooling, written as ONNX: token numbers in, unit vectors out."""

import struct
from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

# Writes ONNX files: as much of the format as a graph of our own needs.
#
# The format is protobuf: each field is a key, made of its number and how it is encoded, and a value.
# The package `onnx` would write it too, but takes 33 MB for a file that is made once.

# The numbers that the format gives to types of elements.
ELEMENTS = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
# The versions of the file and of its operators; onnxruntime has read these since 1.12.
IR_VERSION = 8
OPSET = 17
# Operators of onnxruntime's own, which it runs on every processor.
OWN_DOMAIN = "com.microsoft"
OWN_OPERATORS = frozenset({"Gelu", "MatMulIntegerToFloat", "MultiHeadAttention"})

Attribute = int | float | Sequence[int]
Value = int | float | str | bytes


class Graph:
    """A graph that grows node by node. What a node or constant yields goes by the name that is returned."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._outputs: list[bytes] = []
        self._count = 0

    def constant(self, array: NDArray[np.generic] | np.generic) -> str:
        """Add an array or a single number."""
        name = self._name()
        dimensions = b"".join(_field(1, size) for size in array.shape)
        element = _field(2, ELEMENTS[array.dtype.name])
        self._constants.append(dimensions + element + _field(8, name) + _field(9, array.tobytes()))
        return name

    def node(self, operator: str, *inputs: str, **attributes: Attribute) -> str:
        """Add a node with one output."""
        output = self._name()
        encoded = [*(_field(1, name) for name in inputs), _field(2, output), _field(4, operator)]
        encoded += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
        if operator in OWN_OPERATORS:
            encoded.append(_field(7, OWN_DOMAIN))
        self._nodes.append(b"".join(encoded))
        return output

    def tell(self, name: str, dimensions: Sequence[int | str]) -> None:
        """Let floats be an output of the graph; a dimension with a name may have any size."""
        self._outputs.append(_described(name, "float32", dimensions))

    def encoded(
        self, input_name: str, element: str = "int64", dimensions: Sequence[int | str] = ("texts", "tokens")
    ) -> bytes:
        """Return the file of a graph from rows of token numbers, or of what they stand for, to what it tells."""
        graph = [_field(1, node) for node in self._nodes] + [_field(2, "graph")]
        graph += [_field(5, constant) for constant in self._constants]
        graph.append(_field(11, _described(input_name, element, dimensions)))
        graph += [_field(12, output) for output in self._outputs]
        operators = _field(8, _field(2, OPSET)) + _field(8, _field(1, OWN_DOMAIN) + _field(2, 1))
        return _field(1, IR_VERSION) + _field(7, b"".join(graph)) + operators

    def _name(self) -> str:
        self._count += 1
        return f"v{self._count}"


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, float):
        return _field(1, name) + _field(2, value) + _field(20, 1)
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + b"".join(_field(8, each) for each in value) + _field(20, 7)


def _described(name: str, element: str, dimensions: Sequence[int | str]) -> bytes:
    """Describe an input or output; a dimension with a name may have any size."""
    sizes = [_field(1, size) if isinstance(size, int) else _field(2, size) for size in dimensions]
    shape = _field(2, b"".join(_field(1, size) for size in sizes))
    return _field(1, name) + _field(2, _field(1, _field(1, ELEMENTS[element]) + shape))


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    encoded = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(encoded)) + encoded


def _varint(number: int) -> bytes:
    """Encode a number in groups of seven bits, the lowest first; a negative one as 64 bits."""
    number &= (1 << 64) - 1
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


# How a model's weights are looked up and multiplied by: what every way to do it has, and the one in floats.


Array = NDArray[np.float32]
# A matrix by which rows are multiplied, and the bias that is added to each product.
Dense = tuple[Array, Array]


class Arithmetic(Protocol):
    """A way to reckon. It is asked for the products of a graph in the order in which they are drawn."""

    name: str

    def look_up(self, graph: Graph, table: Array, numbers: str) -> str:
        """Take rows of a table by their numbers."""
        ...

    def multiply(self, graph: Graph, tokens: str, *by: Dense) -> list[str]:
        """Multiply the same tokens, a row each, by several matrices."""
        ...

    def multiply_activated(self, graph: Graph, tokens: str, by: Dense) -> str:
        """Do so by one, with what a GELU has let through: hardly anything below zero, and now and then a giant."""
        ...


class Floats:
    """As the weights were made."""

    name = "float32"

    def look_up(self, graph: Graph, table: Array, numbers: str) -> str:
        """Take rows of a table by their numbers."""
        return graph.node("Gather", graph.constant(table), numbers)

    def multiply(self, graph: Graph, tokens: str, *by: Dense) -> list[str]:
        """Multiply the same tokens by several matrices."""
        return [self.multiply_activated(graph, tokens, one) for one in by]

    def multiply_activated(self, graph: Graph, tokens: str, by: Dense) -> str:
        """Multiply by one matrix; floats need not know what they multiply."""
        matrix, bias = by
        return graph.node("Add", graph.node("MatMul", tokens, graph.constant(matrix)), graph.constant(bias))


# The graph of a BERT encoder with mean pooling: rows of token numbers in, a unit vector for each row out.
#
# All rows of a batch have the same length, so that nothing is padded and no mask is needed. Drawn here and not
# exported, it needs no PyTorch.


# Raised whenever the same weights would make another graph.
VERSION = 3
INPUT = "tokens"


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """What `config.json` says of a model that this graph can be drawn for."""

    model_type: Literal["bert"]
    hidden_act: Literal["gelu"]
    hidden_size: int
    intermediate_size: int
    layer_norm_eps: float
    num_attention_heads: int
    num_hidden_layers: int
    vocab_size: int
    position_embedding_type: Literal["absolute"] = "absolute"


def encoder(weights: Mapping[str, Array], shape: Shape, arithmetic: Arithmetic) -> bytes:
    """Return the graph as a file; weights that are missing raise KeyError."""
    return _Drawing(weights, shape, arithmetic).drawn()


class _Drawing:
    """The graph while it is drawn."""

    def __init__(self, weights: Mapping[str, Array], shape: Shape, arithmetic: Arithmetic) -> None:
        self._graph = Graph()
        self._weights = weights
        self._shape = shape
        self._arithmetic = arithmetic
        self._batch_shape = self._graph.node("Shape", INPUT)
        # Tokens are rows of one matrix everywhere but in attention, which needs to know its text.
        self._as_rows = self._numbers(-1, shape.hidden_size)
        self._as_texts = self._graph.node("Concat", self._batch_shape, self._numbers(shape.hidden_size), axis=0)

    def drawn(self) -> bytes:
        tokens = self._embedded()
        for layer in range(self._shape.num_hidden_layers):
            name = f"encoder.layer.{layer}"
            tokens = self._attended(tokens, f"{name}.attention")
            tokens = self._transformed(tokens, name)
        self._graph.tell(self._pooled(tokens), ("texts", self._shape.hidden_size))
        return self._graph.encoded(INPUT)

    def _embedded(self) -> str:
        words = self._arithmetic.look_up(self._graph, self._weights["embeddings.word_embeddings.weight"], INPUT)
        # All tokens are of the first type: only models for pairs of texts know a second.
        kind = self._weights["embeddings.token_type_embeddings.weight"][0]
        places = self._graph.constant(self._weights["embeddings.position_embeddings.weight"] + kind)
        length = self._graph.node("Gather", self._batch_shape, self._numbers(1))
        places = self._graph.node("Slice", places, self._numbers(0), length, self._numbers(0))
        embedded = self._normalised(self._graph.node("Add", words, places), "embeddings.LayerNorm")
        return self._graph.node("Reshape", embedded, self._as_rows)

    def _attended(self, tokens: str, name: str) -> str:
        roles = [self._dense(f"{name}.self.{role}") for role in ("query", "key", "value")]
        queries_keys_values = [
            self._graph.node("Reshape", product, self._as_texts)
            for product in self._arithmetic.multiply(self._graph, tokens, *roles)
        ]
        heads = self._shape.num_attention_heads
        context = self._graph.node("MultiHeadAttention", *queries_keys_values, num_heads=heads)
        found = self._graph.node("Reshape", context, self._as_rows)
        [product] = self._arithmetic.multiply(self._graph, found, self._dense(f"{name}.output.dense"))
        return self._added(tokens, product, f"{name}.output.LayerNorm")

    def _transformed(self, tokens: str, name: str) -> str:
        [inner] = self._arithmetic.multiply(self._graph, tokens, self._dense(f"{name}.intermediate.dense"))
        activated = self._graph.node("Gelu", inner)
        product = self._arithmetic.multiply_activated(self._graph, activated, self._dense(f"{name}.output.dense"))
        return self._added(tokens, product, f"{name}.output.LayerNorm")

    def _added(self, tokens: str, product: str, name: str) -> str:
        """Add to the tokens what half a layer has made of them."""
        return self._normalised(self._graph.node("Add", product, tokens), name)

    def _normalised(self, tokens: str, name: str) -> str:
        scale, bias = (self._graph.constant(self._weights[f"{name}.{each}"]) for each in ("weight", "bias"))
        return self._graph.node(
            "LayerNormalization", tokens, scale, bias, axis=-1, epsilon=float(self._shape.layer_norm_eps)
        )

    def _pooled(self, tokens: str) -> str:
        texts = self._graph.node("Reshape", tokens, self._as_texts)
        means = self._graph.node("ReduceMean", texts, axes=[1], keepdims=0)
        return self._graph.node("LpNormalization", means, axis=-1, p=2)

    def _dense(self, name: str) -> Dense:
        """Return a matrix by which rows are multiplied from the right, which PyTorch keeps the other way round."""
        return np.ascontiguousarray(self._weights[f"{name}.weight"].T), self._weights[f"{name}.bias"]

    def _numbers(self, *numbers: int) -> str:
        return self._graph.constant(np.array(numbers, np.int64))
