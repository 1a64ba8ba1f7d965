"""How large what a model multiplies gets, column by column: looked up in floats, for whoever reckons in bytes."""

from collections.abc import Iterable, Sequence

import msgspec
import numpy as np

from searchkit.embed.minilm.arithmetic import Array, Dense, Floats
from searchkit.embed.minilm.onnx import Graph

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
