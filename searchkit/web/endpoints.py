"""An HTTP endpoint: the struct of its parameters, which is parsed, checked and described, and what answers it."""

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, inspect

from searchkit.engine import Engine
from searchkit.errors import SourceSilent, UsageError
from searchkit.query.filters import FILTERS, NAMES
from searchkit.render.wire.base import Wire

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off")
# Beyond any that is asked for, and small enough for every number that it becomes.
MAX_NUMBER = 1_000_000

Number = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Words = Annotated[str, Meta(description="Words as `searchkit search` takes them, among which may be filters.")]
Full = Annotated[bool, Meta(description="Give whole texts.")]


Reveal = Annotated[bool, Meta(description="Show secrets instead of masking them.")]


class Parameters(msgspec.Struct, frozen=True, kw_only=True):
    """What an address takes; fields without a default must be given."""

    reveal: Reveal = False


class Filtered(Parameters, frozen=True, kw_only=True):
    """What an address takes that searches: words, and any of the filters, each with its name."""

    q: Words = ""
    filters: tuple[tuple[str, str], ...] = ()


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter as it is checked and described; `kind` is a type of JSON Schema."""

    name: str
    description: str
    kind: str = "string"
    default: str | int | bool | None = None
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = MAX_NUMBER
    is_repeated: bool = False
    is_required: bool = False


class Unread(msgspec.Struct, frozen=True, kw_only=True):
    """An answer for which transcripts are still to be read; `subject` says where they lie."""

    subject: str
    read: Callable[[], object]
    # What is answered without them; where there is nothing, the refusal is the answer.
    otherwise: Callable[[SourceSilent], object] | None = None


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """An address that can be read: its parameters, the function that answers, and what that returns.

    Where `is_search`, its answer takes a fraction of a second whatever the index holds. Others may read a whole
    conversation, or all of them: together they have one engine, so that searches always find another.
    """

    path: str
    parameters: type[Parameters] = Parameters
    answer: Callable[[Engine, Any, str], Wire | Unread]
    returns: type[Wire]
    is_search: bool = False

    @property
    def summary(self) -> str:
        """What it answers, in a sentence."""
        return (self.answer.__doc__ or "").partition("\n")[0]


P = TypeVar("P", bound=Parameters)


def parse(takes: type[P], pairs: Sequence[tuple[str, str]]) -> P:
    """Read the parameters of a request, or raise `UsageError` that says what is wrong with them."""
    known = {parameter.name: parameter for parameter in parameters(takes)}
    texts: dict[str, list[str]] = {name: [] for name in known}
    for name, value in pairs:
        if name not in known:
            raise _unknown(name, known)
        texts[name].append(value)
    for name, parameter in known.items():
        _check(parameter, texts[name])
    fields = takes.__struct_fields__
    values = {name: _value(known[name], given) for name, given in texts.items() if given and name in fields}
    if issubclass(takes, Filtered):
        values["filters"] = [(name, value) for name in NAMES for value in texts[name]]
    return msgspec.convert(values, takes)


@cache
def parameters(takes: type[Parameters]) -> tuple[Parameter, ...]:
    """Return what an address takes, one by one, with the filters last."""
    info = inspect.type_info(takes)
    assert isinstance(info, inspect.StructType)
    own = [_parameter(field) for field in info.fields if field.name != "filters"]
    if not issubclass(takes, Filtered):
        return tuple(own)
    return (*own, *(Parameter(name=spec.name, description=spec.help, is_repeated=True) for spec in FILTERS))


def _parameter(field: inspect.Field) -> Parameter:
    kind, extra = _bare(field.type)
    is_repeated = isinstance(kind, inspect.ListType)
    if isinstance(kind, inspect.ListType):
        kind, _ = _bare(kind.item_type)
    default = None if field.default is msgspec.NODEFAULT else field.default
    least, most, choices = 0, MAX_NUMBER, tuple(extra.get("enum", ()))
    match kind:
        case inspect.IntType():
            name = "integer"
            least, most = kind.ge or 0, MAX_NUMBER if kind.le is None else kind.le
        case inspect.BoolType():
            name = "boolean"
        case inspect.EnumType():
            name, choices = "string", tuple(member.value for member in kind.cls)
        case _:
            name = "string"
    return Parameter(
        name=field.encode_name,
        description=extra.get("description", ""),
        kind=name,
        default=default.value if isinstance(default, Enum) else default,
        choices=choices,
        least=least,
        most=most,
        is_repeated=is_repeated,
        is_required=field.required,
    )


def _bare(kind: inspect.Type) -> tuple[inspect.Type, Mapping[str, Any]]:
    """Return a type without its description and without None, and what was said of it."""
    extra: dict[str, Any] = {}
    while isinstance(kind, inspect.Metadata):
        extra |= kind.extra_json_schema or {}
        kind = kind.type
    if isinstance(kind, inspect.UnionType):
        (kind,) = (one for one in kind.types if not isinstance(one, inspect.NoneType))
        kind, inner = _bare(kind)
        extra = {**inner, **extra}
    return kind, extra


def _check(parameter: Parameter, given: Sequence[str]) -> None:
    name = parameter.name
    if len(given) > 1 and not parameter.is_repeated:
        raise UsageError(f"{name} was given {len(given)} times", "give it once")
    if not given and parameter.is_required:
        raise UsageError(f"{name} is missing", f"add {name}=..., which is: {parameter.description}")
    for value in given:
        if parameter.choices and value not in parameter.choices:
            raise UsageError(f"{name}={value} is not possible", f"use one of {', '.join(parameter.choices)}")
        if parameter.kind == "boolean" and value.lower() not in TRUE + FALSE:
            raise UsageError(f"{name}={value} is neither true nor false", f"use {name}=true or {name}=false")
        if parameter.kind == "integer" and not _is_within(value, parameter):
            bounds = f"from {parameter.least} to {parameter.most}"
            raise UsageError(f"{name}={value} is not possible", f"give a whole number {bounds}")


def _is_within(value: str, parameter: Parameter) -> bool:
    is_number = value.isascii() and value.isdecimal() and len(value) <= len(str(MAX_NUMBER))
    return is_number and parameter.least <= int(value) <= parameter.most


def _unknown(name: str, known: Mapping[str, Parameter]) -> UsageError:
    # Only needed where something was misspelt.
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, 1, 0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known) or 'none'}"
    return UsageError(f"there is no parameter {name}", hint)


def _value(parameter: Parameter, given: Sequence[str]) -> object:
    """Turn texts that were checked into a value."""
    if parameter.is_repeated:
        return list(given)
    if parameter.kind == "integer":
        return int(given[0])
    return given[0].lower() in TRUE if parameter.kind == "boolean" else given[0]
