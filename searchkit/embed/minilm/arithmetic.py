"""How a model's weights are looked up and multiplied by: what every way to do it has, and the one in floats."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from searchkit.embed.minilm.onnx import Graph

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
