"""Makes the default model ready to run, once: its graph in bytes, held against the graph in floats."""

import logging
from pathlib import Path

import msgspec
import numpy as np

from searchkit.embed.minilm import cache, weights
from searchkit.embed.minilm.arithmetic import Arithmetic, Floats
from searchkit.embed.minilm.cache import Ready
from searchkit.embed.minilm.graph import encoder
from searchkit.embed.minilm.int8 import Bytes
from searchkit.embed.minilm.ranges import Observing, ranges
from searchkit.embed.minilm.run import MAKER, Encoder
from searchkit.embed.minilm.samples import SAMPLES
from searchkit.embed.tokenize import Tokens
from searchkit.errors import ModelDamaged

log = logging.getLogger(__name__)

# The goal of issue 5, show 2: what is further from its original is not used.
LEAST_COSINE = 0.99


def ready(model: Path, kept: Path, tokens: Tokens) -> tuple[Ready, Encoder]:
    """Open the model that is kept in a file, or make it from its directory and keep it there."""
    loaded = cache.load(kept)
    if loaded is not None and _is_current(loaded[0], model):
        known, graph = loaded
        if known.stamp != (stamp := weights.stamp(model)):
            # The same files were installed again; the next time they need not be read to know it.
            known = msgspec.structs.replace(known, stamp=stamp)
            cache.store(kept, known, graph)
        return known, Encoder(graph)
    log.info("making the default model ready, which takes some seconds and is done once")
    return _made(model, kept, tokens)


def _is_current(known: Ready, model: Path) -> bool:
    """Say whether a model was made of these files, in the way it would be made now."""
    if known.maker != MAKER:
        return False
    return known.stamp == weights.stamp(model) or known.weights == weights.fingerprint(model)


def _made(model: Path, kept: Path, tokens: Tokens) -> tuple[Ready, Encoder]:
    stamp, hashed = weights.stamp(model), weights.fingerprint(model)
    samples = [row for text in SAMPLES if (row := tokens.numbers(text))]
    original = Encoder(_graph(model, Observing()))
    expected = original.vectors(samples)
    if not np.isfinite(expected).all():
        raise ModelDamaged("the default model's weights are no numbers to reckon with", weights.REINSTALL)
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
        graph_hash=cache.graph_hash(graph),
    )
    cache.store(kept, made, graph)
    return made, opened


def _graph(model: Path, arithmetic: Arithmetic) -> bytes:
    try:
        return encoder(weights.tensors(model), weights.shape(model), arithmetic)
    except (KeyError, ValueError) as error:
        raise ModelDamaged(
            f"the weights in {model} are not those of the default model: {error}", weights.REINSTALL
        ) from error
