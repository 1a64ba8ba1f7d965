"""What can be asked for in an address: parameters with their types and bounds, and how they are read."""

from collections.abc import Mapping, Sequence

import msgspec

from searchkit.cli.query_options import FILTERS
from searchkit.errors import UsageError

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")
# Beyond any that is asked for, and small enough for every number that it becomes.
MOST_NUMBER = 1_000_000


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter of an address; `kind` is a type of JSON Schema."""

    name: str
    explained: str
    kind: str = "string"
    default: str | int | bool | None = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MOST_NUMBER
    is_repeated: bool = False
    is_required: bool = False


Q = Parameter(
    name="q",
    explained="Words as `searchkit search` takes them, among which may be filters.",
    default="",
)
FULL = Parameter(name="full", kind="boolean", default=False, explained="Give whole texts.")
FILTER_PARAMETERS = tuple(
    Parameter(name=name, explained=explained, is_repeated=True) for name, explained in FILTERS.items()
)


class Given:
    """The parameters of one request, all of them valid, with defaults for those that were not given."""

    def __init__(self, parameters: Sequence[Parameter], pairs: Sequence[tuple[str, str]]) -> None:
        """Read what was given, or say what is wrong with it."""
        known = {parameter.name: parameter for parameter in parameters}
        self._texts: dict[str, list[str]] = {name: [] for name in known}
        for name, value in pairs:
            if name not in known:
                raise _unknown(name, known)
            self._texts[name].append(value)
        self._known = known
        for parameter in parameters:
            _check(parameter, self._texts[parameter.name])

    def text(self, name: str) -> str | None:
        """Return a text, or its default."""
        given = self._texts[name]
        if given:
            return given[0]
        default = self._known[name].default
        return None if default is None else str(default)

    def choice(self, name: str) -> str:
        """Return one of a few values, which has a default."""
        return self.text(name) or ""

    def number(self, name: str) -> int:
        """Return a whole number, or its default."""
        return int(self.text(name) or 0)

    def flag(self, name: str) -> bool:
        """Return whether something is wanted."""
        return (self.text(name) or "").lower() in TRUE

    def several(self, name: str) -> list[str]:
        """Return all texts that were given under one name."""
        return self._texts[name]

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The filters, each with its name."""
        return [(name, value) for name in FILTERS for value in self._texts.get(name, ())]


def _check(parameter: Parameter, given: Sequence[str]) -> None:
    name = parameter.name
    if len(given) > 1 and not parameter.is_repeated:
        raise UsageError(f"{name} was given {len(given)} times", "give it once")
    if not given and parameter.is_required:
        raise UsageError(f"{name} is missing", f"add {name}=..., which is: {parameter.explained}")
    for value in given:
        if parameter.choices and value not in parameter.choices:
            raise UsageError(f"{name}={value} is not possible", f"use one of {', '.join(parameter.choices)}")
        if parameter.kind == "boolean" and value.lower() not in TRUE + FALSE:
            raise UsageError(f"{name}={value} is neither true nor false", f"use {name}=true or {name}=false")
        if parameter.kind == "integer" and not _is_within(value, parameter):
            bounds = f"from {parameter.least} to {parameter.most}"
            raise UsageError(f"{name}={value} is not possible", f"give a whole number {bounds}")


def _is_within(value: str, parameter: Parameter) -> bool:
    is_number = value.isascii() and value.isdecimal() and len(value) <= len(str(MOST_NUMBER))
    return is_number and parameter.least <= int(value) <= parameter.most


def _unknown(name: str, known: Mapping[str, Parameter]) -> UsageError:
    # Only needed where something was misspelt.
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return UsageError(f"there is no parameter {name}", hint)
