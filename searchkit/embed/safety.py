"""Looks at a model's files before they are opened, and refuses those by which a model could run code of its own."""

import json
from collections.abc import Iterator
from pathlib import Path

from searchkit.errors import ModelDamaged, ModelUnsafe

# Models of sentence-transformers have their modules one level below, and a Router has those of its routes two below.
MOST_LEVELS = 3
# What sentence-transformers imports classes by, and whose classes it may be.
MODULES, ROUTER, CONFIG, WORDS = "modules.json", "router_config.json", "config.json", "wordembedding_config.json"
_OURS = "sentence_transformers."
_CLASSES = {
    "type": _OURS,
    "types": _OURS,
    "tokenizer_class": _OURS,
    "activation_function": "torch.nn.",
    "activation_fn": "torch.nn.",
    "sbert_ce_default_activation_function": "torch.nn.",
}
# A config of transformers also has types, of other things, and names its tokenizer's class without a module.
_ALL = frozenset(_CLASSES)
_KEYS = {MODULES: _ALL, ROUTER: _ALL, WORDS: _ALL, CONFIG: _ALL - {"type"}}
# An adapter names another model, which would be looked for below the current directory first.
ADAPTER = "adapter_config.json"
PICKLES = "pytorch_model*.bin"
TENSORS = "*.safetensors"


def check(directory: Path, name: str, hint: str) -> None:
    """Raise where opening a model would import what is no class of sentence-transformers, or read a pickle.

    sentence-transformers refuses such classes too, from version 6 on, and PyTorch reads only tensors from a pickle;
    this does not rely on either.
    """
    if not any((directory / file).exists() for file in (MODULES, CONFIG)):
        raise ModelDamaged(f"there is no model in {directory}: it has neither {MODULES} nor {CONFIG}", hint)
    for folder in _folders(directory, MOST_LEVELS):
        for file, keys in _KEYS.items():
            if (folder / file).is_file():
                for key, named in _named(_read(folder / file, name, hint), keys):
                    if "." in named and not named.startswith(_CLASSES[key]):
                        raise ModelUnsafe(
                            f"the model {name} would run code that it names itself: {named[:100]!r} in {file}", hint
                        )
        if (folder / ADAPTER).exists():
            raise ModelUnsafe(f"the model {name} is an adapter, which opens another model by itself", hint)
        if any(folder.glob(PICKLES)) and not any(folder.glob(TENSORS)):
            raise ModelUnsafe(
                f"the model {name} has its weights in a pickle, which can hold code, and not in safetensors", hint
            )


def _folders(directory: Path, levels: int) -> Iterator[Path]:
    yield directory
    if levels > 1:
        for inner in sorted(directory.iterdir()):
            if inner.is_dir():
                yield from _folders(inner, levels - 1)


def _read(file: Path, name: str, hint: str) -> object:
    try:
        # The decoder that sentence-transformers uses, so that both read the same in it.
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ModelDamaged(f"cannot open the model {name}: {file.name} is no JSON", hint) from error


def _named(value: object, keys: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield the strings below keys that name classes, at any depth, with the key."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            for key, inner in item.items():
                several = inner.values() if key == "types" and isinstance(inner, dict) else [inner]
                if key in keys:
                    yield from ((key, one) for one in several if isinstance(one, str))
                waiting.append(inner)
