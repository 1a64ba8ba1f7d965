"""A model that is like the default one and small enough to be made for a test."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import save_file

from searchkit.embed.minilm import run

PACKAGE = "small_model"
WIDTH, INNER, HEADS, LAYERS, WORDS, PLACES = 32, 64, 4, 2, 30_522, 512
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "layer_norm_eps": 1e-12,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "vocab_size": WORDS,
}


def install(directory: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the package in a directory, let it be the default model, and return where its files are."""
    model = directory / PACKAGE / "model"
    tokenizer = run.packaged() / run.TOKENIZER
    model.mkdir(parents=True)
    (directory / PACKAGE / "__init__.py").touch()
    shutil.copy(tokenizer, model)
    (model / run.CONFIG).write_text(json.dumps(CONFIG), encoding="utf-8")
    save_file(tensors(seed=1), model / run.TENSORS)
    monkeypatch.syspath_prepend(str(directory))
    monkeypatch.setattr(run, "PACKAGE", PACKAGE)
    return model


def tensors(seed: int) -> dict[str, NDArray[np.float32]]:
    """Draw weights at random, under the names that PyTorch gives them."""
    numbers = np.random.default_rng(seed)

    def drawn(*shape: int) -> NDArray[np.float32]:
        return (numbers.standard_normal(shape) * 0.05).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": drawn(WORDS, WIDTH),
        "embeddings.position_embeddings.weight": drawn(PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": drawn(2, WIDTH),
        **_norm("embeddings.LayerNorm"),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        squares = [f"{name}.attention.self.{role}" for role in ("query", "key", "value")]
        for square in [*squares, f"{name}.attention.output.dense"]:
            made |= {f"{square}.weight": drawn(WIDTH, WIDTH), f"{square}.bias": drawn(WIDTH)}
        made |= {f"{name}.intermediate.dense.weight": drawn(INNER, WIDTH)}
        made |= {f"{name}.intermediate.dense.bias": drawn(INNER)}
        made |= {f"{name}.output.dense.weight": drawn(WIDTH, INNER), f"{name}.output.dense.bias": drawn(WIDTH)}
        made |= _norm(f"{name}.attention.output.LayerNorm") | _norm(f"{name}.output.LayerNorm")
    return made


def _norm(name: str) -> dict[str, NDArray[np.float32]]:
    return {f"{name}.weight": np.ones(WIDTH, np.float32), f"{name}.bias": np.zeros(WIDTH, np.float32)}
