"""The options that several commands share: the index, JSON, words and filters."""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import wraps
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import click

from searchkit.cli.console import audience, warn
from searchkit.errors import UsageError
from searchkit.query.filters import BY_NAME, FILTERS, Completion
from searchkit.query.parse import understand
from searchkit.query.types import Condition, Filter, Query
from searchkit.sources.apps import APPS, is_set_by_agent
from searchkit.text.sanitize import is_id, one_line, words
from searchkit.text.secrets import revealed

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Command = Callable[..., Any]


def common(command: Command) -> Command:
    """Add what every command takes."""
    # The client of the resident process has read it before.
    command = click.option("--no-resident", is_flag=True, expose_value=False, help="Do it in this process.")(command)
    command = click.option("--json", "as_json", is_flag=True, help="Print one JSON value.")(command)
    return click.option("--index", metavar="DIR", help="Where the index is.")(command)


def reveal_option(command: Command) -> Command:
    """Add what shows secrets to who may see them."""
    return click.option(
        "--reveal", is_flag=True, expose_value=False, callback=_reveal, help="Show secrets instead of masking them."
    )(command)


def _reveal(context: click.Context, parameter: click.Parameter, is_wanted: bool) -> None:
    if not is_wanted or context.resilient_parsing:
        return
    if is_set_by_agent(audience().environment):
        raise UsageError("agents are shown no secrets, nor is what they run", "use --reveal in a terminal of your own")
    context.with_resource(revealed())


_SIGNS = " or ".join(f"{app.signs[0]}/" for app in APPS.values())
root_option = click.option("--root", "roots", metavar="DIR", multiple=True, help=f"A directory that holds {_SIGNS}.")
rerank_option = click.option(
    "--rerank",
    "reranker",
    metavar="MODEL",
    default="",
    help="Let a cross-encoder, by name or path, reorder the first results.",
)


# How commands are asked: words and filters, as arguments and as options.

# Stands before a word that begins with a hyphen, which click would take for options. No argument holds it.
_WORD = "\0"
# All options have two hyphens, but for that of help.
_HYPHENED = re.compile(r"-(?!-|h$).", re.DOTALL)


def understood(words: Sequence[str], filters: Sequence[tuple[str, str]]) -> Query:
    """Read a question in the user's time zone; what was taken for plain words is told on stderr."""
    query = understand(" ".join(words), filters=filters)
    for note in query.notes:
        warn(one_line(note))
    return query


def by_title(query: Query) -> Condition:
    """Turn what is left of a question beside its filters into filters of titles."""
    titles = tuple(
        Filter(name="title", values=tuple(term.text for term in clause.terms), is_excluded=clause.is_excluded)
        for clause in query.clauses
    )
    return Condition(filters=(*query.condition.filters, *titles), periods=query.condition.periods)


def filter_options(command: Command) -> Command:
    """Add all filters; the command is given `filters`, a list of pairs of name and value."""

    @wraps(command)
    def collected(*arguments: Any, **options: Any) -> Any:
        given = [(spec.name, value) for spec in FILTERS for value in options.pop(PREFIX + spec.argument)]
        return command(*arguments, filters=given, **options)

    for spec in reversed(FILTERS):
        option = click.option(
            f"--{spec.name}",
            PREFIX + spec.argument,
            metavar="VALUE",
            multiple=True,
            help=spec.help,
            shell_complete=complete_filter,
        )
        option(collected)
    return collected


def words_argument(is_required: bool) -> Callable[[Command], Command]:
    """Add words, among which may be filters; the command must be a `Question`."""
    return click.argument("words", nargs=-1, required=is_required, callback=_restored)


class Question(click.Command):
    """A command that takes words, of which one with a hyphen before it is no option: `-slow`, `-v`, `-1`.

    A short option is one where a number follows, as in `-n 5` or `-n5`.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep click from reading what begins with a single hyphen as options, unless it is `-h`."""
        options = [one for one in self.params if isinstance(one, click.Option)]
        valued = {name for option in options if not option.is_flag for name in option.opts}
        given, is_value = [], False
        for one, following in zip(args, [*args[1:], ""], strict=False):
            is_short = one in valued and _HYPHENED.match(one) is not None
            is_joined = one[:2] in valued and one[2:].isdecimal()
            is_option = is_value or is_joined or (one in valued and (following.isdecimal() or not is_short))
            given.append(one if is_option or not _HYPHENED.match(one) else _WORD + one)
            is_value = is_option and not is_value and not is_joined and one in valued
        return super().parse_args(ctx, given)


def _restored(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one.removeprefix(_WORD) for one in value)


# Values from the index, offered to a shell that completes.
#
# A shell that completes shows whatever goes wrong in the middle of a person's typing, so nothing here raises: where
# there is no index, nothing is offered. Nor is a value that a shell would take for more than a word: the script that
# click has for bash puts values on the line as they are, and Enter would run what they say.


# Where click looks for a shell that asks what could come next.
VARIABLE = "_SEARCHKIT_COMPLETE"
# Sessions that are offered, the newest.
MOST_SESSIONS = 30
# What stands before the name of a filter in that of its option's variable.
PREFIX = "filter_"


def complete_filter(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Offer the values of a filter."""
    spec = BY_NAME[(parameter.name or "").removeprefix(PREFIX).replace("_", "-")]
    name, asked = spec.name, incomplete.casefold()
    offered: Iterable[str] = dict.fromkeys(spec.choices.values()) if spec.completion is Completion.CHOICES else ()
    if spec.completion is Completion.INDEXED:
        with suppress(Exception):
            # Completing the name of an option need not wait for the engine.
            from searchkit.engine import Engine

            with Engine(context.params.get("index")) as engine:
                offered = engine.values(name)
    if name == "project" and "/" not in asked:
        # The last part of a path means it just as well, and is shorter.
        offered = (PurePosixPath(path.replace("\\", "/")).name or path for path in offered)
    return [value for value in words(offered, _is_quoting()) if value.casefold().startswith(asked)]


def complete_session(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
    """Offer the newest sessions whose id begins so, with their titles."""
    from click.shell_completion import CompletionItem

    with suppress(Exception):
        from searchkit.engine import Engine
        from searchkit.query.types import Condition, Filter

        filters = (Filter(name="session", values=(incomplete,)),) if incomplete else ()
        with Engine(context.params.get("index")) as engine:
            found = engine.sessions(Condition(filters=filters), MOST_SESSIONS)
        return [
            CompletionItem(session.id, help=one_line(session.title or "")) for session in found if is_id(session.id)
        ]
    return []


def _is_quoting() -> bool:
    """Say whether the shell that asks puts quotes around what it inserts; bash inserts what it is given."""
    return os.environ.get(VARIABLE, "").startswith(("zsh_", "fish_"))
