"""The graph of a BERT encoder with mean pooling: rows of token numbers in, a unit vector for each row out.

All rows of a batch have the same length, so that nothing is padded and no mask is needed. Drawn here and not
exported, it needs no PyTorch.
"""

from collections.abc import Mapping
from typing import Literal

import msgspec
import numpy as np

from searchkit.embed.minilm.arithmetic import Arithmetic, Array, Dense
from searchkit.embed.minilm.onnx import Graph

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
