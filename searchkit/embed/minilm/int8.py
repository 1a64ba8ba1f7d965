"""Matrix products in bytes: a scale for each column of weights and for each column they multiply."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from searchkit.embed.minilm.graph import Array, Dense, Floats, Graph

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
