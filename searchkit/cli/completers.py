"""What could be typed next: values from the index, offered to a shell.

A shell that completes shows whatever goes wrong in the middle of a person's typing, so nothing
here raises: where there is no index, nothing is offered. Nor is a value that a shell would take for more than a word:
the script that click has for bash puts values on the line as they are, and Enter would run what they say.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import click

from searchkit.query.filters import BY_NAME, Completion
from searchkit.text.sanitize import is_id, one_line, words

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

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
