"""Writes ONNX files: as much of the format as a graph of our own needs.

The format is protobuf: each field is a key, made of its number and how it is encoded, and a value.
The package `onnx` would write it too, but takes 33 MB for a file that is made once.
"""

import struct
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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

    def encoded(self, input_name: str) -> bytes:
        """Return the file of a graph from rows of token numbers to what it was made to tell."""
        graph = [_field(1, node) for node in self._nodes] + [_field(2, "graph")]
        graph += [_field(5, constant) for constant in self._constants]
        graph.append(_field(11, _described(input_name, "int64", ("texts", "tokens"))))
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
