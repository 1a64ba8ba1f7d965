"""Where things are and what was chosen: flags, then environment, then the file, then defaults."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from searchkit.errors import UsageError

DEFAULT_ROOT = "~/.claude"


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was configured, resolved once.

    Roots that nobody chose are the default, and give way to those that an index was made from.
    """

    roots: tuple[Path, ...]
    index: Path
    are_roots_chosen: bool
    model: str
    models: Path


def resolve(
    roots: Sequence[str] = (),
    index: str | None = None,
    environment: Mapping[str, str] = os.environ,
    model: str | None = None,
) -> Settings:
    """Decide roots, index directory and model, and where models are kept ready.

    The file is `searchkit/config.toml` in the user's configuration directory, with the keys
    `roots` (a list of paths), `index` (a path) and `model` (a name or a path).
    """
    file = _config_file(environment)
    chosen = _roots(roots, environment, file)
    return Settings(
        roots=tuple(_absolute(path, environment) for path in chosen or [DEFAULT_ROOT]),
        index=_absolute(_index(index, environment, file), environment),
        are_roots_chosen=bool(chosen),
        model=str(model or environment.get("SEARCHKIT_MODEL") or file.get("model") or ""),
        models=_user_directory("data", environment) / "searchkit-models",
    )


def _roots(flags: Sequence[str], environment: Mapping[str, str], file: Mapping[str, object]) -> list[str]:
    if flags:
        return list(flags)
    named = [path for path in environment.get("SEARCHKIT_ROOTS", "").split(os.pathsep) if path]
    if named:
        return named
    listed = file.get("roots")
    if isinstance(listed, list) and listed:
        return [str(path) for path in listed]
    directory = environment.get("CLAUDE_CONFIG_DIR")
    return [directory] if directory else []


def _index(flag: str | None, environment: Mapping[str, str], file: Mapping[str, object]) -> str:
    chosen = flag or environment.get("SEARCHKIT_INDEX") or file.get("index")
    return str(chosen) if chosen else str(_user_directory("data", environment) / "searchkit")


def _config_file(environment: Mapping[str, str]) -> Mapping[str, object]:
    path = _user_directory("config", environment) / "searchkit" / "config.toml"
    try:
        written = path.read_text(encoding="utf-8")
        # Most have no such file, and a search should not wait for what reads it.
        import tomllib

        return tomllib.loads(written)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}", "correct or remove that file") from error


def _user_directory(purpose: str, environment: Mapping[str, str]) -> Path:
    """Find the platform's own directory for data or configuration."""
    home = Path(_home(environment))
    variable = environment.get(f"XDG_{purpose.upper()}_HOME")
    if variable:
        return Path(variable)
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(environment.get("LOCALAPPDATA") or home / "AppData" / "Local")
    return home / {"data": ".local/share", "config": ".config"}[purpose]


def _absolute(path: str | Path, environment: Mapping[str, str]) -> Path:
    text = str(path)
    if text == "~" or text.startswith(("~/", "~\\")):
        text = _home(environment) + text[1:]
    return Path(os.path.abspath(text))


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or str(Path.home())
