"""Opens a model of sentence-transformers by its name or path, and says what is missing where that fails."""

import logging
import os
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from searchkit.embed.exhaustion import is_exhaustion
from searchkit.errors import ModelDamaged, ModelFault, ModelMissing, ModelTooLarge

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, SentenceTransformer

log = logging.getLogger(__name__)

HUB = "https://huggingface.co"
REACH_SECONDS = 5
TRUE = ("1", "true", "yes", "on")
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
    if is_path(name):
        path = Path(name).expanduser()
        if not path.is_dir():
            raise ModelMissing(f"there is no model in {name}: no such directory", hint)
        return _loaded(str(path), kind, hint, local_files_only=True)
    try:
        return _loaded(name, kind, hint, local_files_only=True)
    except ModelDamaged as error:
        if _is_offline():
            raise ModelMissing(
                f"the model {name} is not on this machine, and HF_HUB_OFFLINE is set",
                f"fetch it once without HF_HUB_OFFLINE, or {hint}",
            ) from error
    _reach(name, hint)
    log.info("fetching the model %s", name)
    try:
        return _loaded(name, kind, hint, local_files_only=False)
    except ModelDamaged as error:
        raise ModelMissing(f"the model {name} cannot be had: {error.message}", hint) from error


def is_path(name: str) -> bool:
    """Say whether a setting means a directory: it is one, or it looks like one."""
    return name.startswith((".", "~", os.sep)) or "\\" in name or Path(name).is_dir()


def _loaded(name: str, kind: str, hint: str, *, local_files_only: bool) -> Any:
    # Many seconds, and only those who chose such a model wait for them.
    import sentence_transformers
    from safetensors import SafetensorError
    from transformers.utils import logging as chatter

    # It would draw a bar for every opening of a model, into whatever is shown at that moment, and tables of weights.
    chatter.disable_progress_bar()
    chatter.set_verbosity_error()
    try:
        return getattr(sentence_transformers, kind)(name, local_files_only=local_files_only)
    except (OSError, ValueError, KeyError, TypeError, ImportError, SafetensorError, RuntimeError, MemoryError) as error:
        raise _fault(name, error, hint) from error


def _fault(name: str, error: Exception, hint: str) -> ModelFault:
    if is_exhaustion(error):
        return ModelTooLarge(f"there is not enough memory to open the model {name}", hint)
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
