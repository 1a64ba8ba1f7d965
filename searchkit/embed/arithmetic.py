"""How a model's weights are looked up and multiplied by: what every way to do it has, and the one in floats."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from searchkit.embed.onnx import Graph

Array = NDArray[np.float32]


class Arithmetic(Protocol):
    """A way to reckon. It is asked for the products of a graph in the order in which they are drawn."""

    name: str

    def look_up(self, graph: Graph, table: Array, numbers: str) -> str:
        """Take rows of a table by their numbers."""
        ...

    def multiply(self, graph: Graph, tokens: str, matrix: Array, bias: Array) -> str:
        """Multiply tokens, a row each, by a matrix, and add a bias to each."""
        ...

    def multiply_activated(self, graph: Graph, tokens: str, matrix: Array, bias: Array) -> str:
        """Do the same with what a GELU has let through: hardly anything below zero, and now and then a giant."""
        ...


class Floats:
    """As the weights were made."""

    name = "float32"

    def look_up(self, graph: Graph, table: Array, numbers: str) -> str:
        """Take rows of a table by their numbers."""
        return graph.node("Gather", graph.constant(table), numbers)

    def multiply(self, graph: Graph, tokens: str, matrix: Array, bias: Array) -> str:
        """Multiply tokens by a matrix, and add a bias to each."""
        return graph.node("Add", graph.node("MatMul", tokens, graph.constant(matrix)), graph.constant(bias))

    def multiply_activated(self, graph: Graph, tokens: str, matrix: Array, bias: Array) -> str:
        """Do the same: floats need not know what they multiply."""
        return self.multiply(graph, tokens, matrix, bias)
