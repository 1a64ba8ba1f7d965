"""From a type to the JSON Schema that a model reads: whole, without references and names that only cost tokens."""

from typing import Any

import msgspec

_PREFIX = "#/$defs/"


def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the schema of a type."""
    (root,), components = msgspec.json.schema_components([kind], ref_template=f"{_PREFIX}{{name}}")
    found: dict[str, Any] = _whole(root, components)
    return found


def _whole(value: Any, components: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_whole(one, components) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        named = components[value["$ref"].removeprefix(_PREFIX)]
        # The docstring of a type is for whoever reads the code; what a property says of itself is kept.
        return _whole(
            {key: one for key, one in named.items() if key != "description"} | _without(value, "$ref"), components
        )
    kept = _without(value, "title")
    return {
        key: _properties(one, components) if key == "properties" else _whole(one, components)
        for key, one in kept.items()
    }


def _properties(value: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    """Look into each property; one of them may be called `title`."""
    return {name: _whole(one, components) for name, one in value.items()}


def _without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key != name}
