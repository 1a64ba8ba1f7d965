"""Where the user's files lie: the configuration, the data, the index.

It is the first thing that a command asks, before anything else is loaded: paths are strings here, and
nothing is imported that takes time.
"""

import os
import sys
from collections.abc import Mapping

from searchkit.errors import UsageError
from searchkit.system.files import check_owned

# Where the results of the last search were, by their numbers: in the directory of the index, with which it goes.
LAST_SEARCH = "last-search.json"


def index_directory(flag: str | None, environment: Mapping[str, str], file: Mapping[str, object] | None = None) -> str:
    """Return where the index is: as the flag says, the environment, the file, or by default.

    That is a directory, or the URL of an index that is in none.
    """
    chosen = flag or environment.get("SEARCHKIT_INDEX")
    if not chosen:
        chosen = str((configured(environment) if file is None else file).get("index") or "")
    if chosen.startswith("file://"):
        from urllib.parse import unquote

        chosen = unquote(chosen.removeprefix("file://"))
    if "://" in chosen:
        return chosen
    return absolute(chosen or os.path.join(user_directory("data", environment), "searchkit"), environment)


def configured(environment: Mapping[str, str]) -> Mapping[str, object]:
    """Return what the user's configuration file says; nothing where there is none."""
    path = os.path.join(user_directory("config", environment), "searchkit", "config.toml")
    try:
        # It names the index and the model. Many keep it elsewhere and link to it.
        check_owned(path, may_be_link=True)
        with open(path, encoding="utf-8") as opened:
            written = opened.read()
        # Most have no such file, and a search should not wait for what reads it.
        import tomllib

        return tomllib.loads(written)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {path}: {error}", "correct or remove that file") from error


def user_directory(purpose: str, environment: Mapping[str, str]) -> str:
    """Find the platform's own directory for data or configuration."""
    variable = environment.get(f"XDG_{purpose.upper()}_HOME")
    if variable:
        return variable
    home = _home(environment)
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    if sys.platform == "win32":
        return environment.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    return os.path.join(home, {"data": ".local/share", "config": ".config"}[purpose])


def absolute(path: str, environment: Mapping[str, str]) -> str:
    """Return a path from the root of the file system on, without following symbolic links."""
    if path == "~" or path.startswith(("~/", "~\\")):
        path = _home(environment) + path[1:]
    return os.path.abspath(path)


def _home(environment: Mapping[str, str]) -> str:
    return environment.get("HOME") or os.path.expanduser("~")
