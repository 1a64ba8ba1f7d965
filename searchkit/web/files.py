"""Serves the files of the page, out of memory: there are few, and no name can lead outside."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from searchkit.query.filters import ALIASES, FILTERS

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Where the page can be entered; what it shows there it finds out from the address.
ENTRANCES = ("/", "/overview", "/session/{id}")
# The script that tells the page which filters there are.
FILTERS_SCRIPT = "script/filters.js"


def is_public(path: str) -> bool:
    """Say whether a path needs no token: the page itself, which says nothing of any transcript."""
    return path in ("/", "/overview") or path.startswith(("/session/", "/page/"))


def routes() -> list[BaseRoute]:
    """Return the addresses of the page and of its files."""
    return [*(Route(path, _entered) for path in ENTRANCES), Route("/page/{name:path}", _file)]


@cache
def contents() -> Mapping[str, bytes]:
    """Return every file of the page by its name, and the script that is made from the table of filters."""
    return {**dict(_below(files("searchkit.web") / "page", "")), FILTERS_SCRIPT: _filters_script()}


def _filters_script() -> bytes:
    panel = sorted((spec for spec in FILTERS if spec.panel), key=lambda spec: spec.panel)
    labels = {spec.name: spec.name.replace("-", " ").capitalize() for spec in panel}
    constants = {"ALIASES": ALIASES, "PANEL": labels}
    lines = (b"export const %s = %s;\n" % (name.encode(), orjson.dumps(value)) for name, value in constants.items())
    return b"// Which filters there are.\n\n" + b"".join(lines)


async def _entered(request: Request) -> Response:
    return _response("index.html")


async def _file(request: Request) -> Response:
    return _response(request.path_params["name"])


def _response(name: str) -> Response:
    suffix = name[name.rfind(".") :]
    if name not in contents() or suffix not in TYPES:
        raise HTTPException(404)
    return Response(contents()[name], media_type=TYPES[suffix])


def _below(directory: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found = []
    for one in directory.iterdir():
        name = prefix + one.name
        found += _below(one, f"{name}/") if one.is_dir() else [(name, one.read_bytes())]
    return found
