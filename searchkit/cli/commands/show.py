"""`searchkit show` and `searchkit tree`: a message in its conversation, a session, a session drawn as a tree."""

import time
from collections.abc import Iterable
from pathlib import Path

import click
from click.core import ParameterSource

from searchkit.cli.commands import NOTHING_FOUND
from searchkit.cli.console import audience, json_text, must_be_own, opened, print_json, save, say, warn
from searchkit.cli.options import common, complete_session, reveal_option
from searchkit.cli.session_argument import is_number, must_say, recall, titled
from searchkit.conversation.types import Conversation, Outline, Said
from searchkit.engine import Engine
from searchkit.errors import UsageError
from searchkit.render import conversation, html, markdown, outline, terminal
from searchkit.render import outline as drawing
from searchkit.render.terminal import Screen
from searchkit.render.wording import Asked


@click.command()
@common
@reveal_option
@click.argument("id", shell_complete=complete_session)
@click.option("--before", default=1, show_default=True, type=click.IntRange(0, 100_000), help="Turns before it.")
@click.option("--after", default=1, show_default=True, type=click.IntRange(0, 100_000), help="Turns after it.")
@click.option("--full", is_flag=True, help="Show every turn and step, and long texts whole.")
@click.option("--agents", is_flag=True, help="Show what agents did below the calls that started them.")
@click.option("--markdown", "as_markdown", is_flag=True, help="Print Markdown.")
@click.option("--html", "as_html", is_flag=True, help="Print a page that needs nothing else.")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="Write it there instead.")
@click.option("--no-pager", is_flag=True, help="Print long results as they are.")
def show(
    id: str,
    index: str | None,
    as_json: bool,
    before: int,
    after: int,
    full: bool,
    agents: bool,
    as_markdown: bool,
    as_html: bool,
    output: Path | None,
    no_pager: bool,
) -> int:
    """Show a message inside its conversation, or a session as an outline.

    ID is the id of a message or of a part of it, the beginning of one, or the number of a result of the
    last search. The id of a session, the beginning of one, or words of its title show the outline of that
    session: what was asked, what was done, and what came of it.
    """
    forms = [name for name, is_wanted in (("json", as_json), ("markdown", as_markdown), ("html", as_html)) if is_wanted]
    if len(forms) > 1:
        raise UsageError(f"--{forms[0]} and --{forms[1]} cannot both be printed", "leave one of them out")
    asked = Asked(before=before, after=after, has_agents=agents, index=index)
    with opened(index) as engine:
        found = _found(engine, id, asked, full)
        if isinstance(found, Outline) and (unused := _given("before", "after", "agents")):
            warn(f"{' and '.join(unused)} are for messages: this is the outline of a session")
        lines = _written(found, asked, full, forms[0] if forms else "screen", output is None)
        if output is not None:
            must_be_own()
            save(output, lines, is_masked=as_json)
        else:
            if as_json:
                audience().print(lines, is_masked=True)
            else:
                (audience().print if forms or no_pager else audience().page)(lines)
    if isinstance(found, Conversation) and not _is_told(found):
        say("That message says nothing: there is no text in it.")
        return 0 if found.entries else NOTHING_FOUND
    return 0


def _found(engine: Engine, id: str, asked: Asked, is_full: bool) -> Conversation | Outline:
    """Find what an id means: a message, or else a session, which a title stands for, too."""
    uuid = recall(engine.settings.index, int(id)).uuid if is_number(id) else id.partition("#")[0]
    must_say(uuid)
    if uuid in engine.named([uuid]) or not engine.messages(uuid):
        return engine.outline(titled(engine, id).id, is_full)
    found = engine.show(uuid, asked.before, asked.after, is_full, asked.has_agents)
    # The engine puts the beginning of the conversation in place of a title.
    is_title = not found.record.lower().startswith(uuid.lower())
    return engine.outline(found.session.id, is_full) if is_title and found.session else found


def _given(*names: str) -> list[str]:
    """Return the options that were typed, of these."""
    context = click.get_current_context()
    return [f"--{name}" for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]


def _is_told(found: Conversation) -> bool:
    """Say whether the message that was asked for says anything."""
    return any(isinstance(entry, Said) and entry.is_hit for entry in found.entries)


def _written(found: Conversation | Outline, asked: Asked, is_full: bool, form: str, is_seen: bool) -> Iterable[str]:
    """Write it in one of the forms; what nobody sees on a screen has no colours."""
    if form == "json":
        # Only programs need them.
        from searchkit.render.wire.conversation import conversation as conversation_json
        from searchkit.render.wire.conversation import outline as outline_json

        if isinstance(found, Conversation):
            return [json_text(conversation_json(found, is_full))]
        return [json_text(outline_json(found, is_full))]
    told = conversation.document(found, asked) if isinstance(found, Conversation) else outline.document(found, asked)
    if form == "markdown":
        return markdown.lines(told, is_full)
    if form == "html":
        return html.lines(told, is_full)
    look = terminal.Screen(
        width=audience().width,
        now=time.time(),
        is_full=is_full,
        is_coloured=is_seen and audience().is_coloured,
        is_ascii=is_seen and audience().is_ascii,
    )
    return terminal.lines(told, look)


@click.command()
@common
@reveal_option
@click.argument("session", shell_complete=complete_session)
@click.option("--ascii", "as_ascii", is_flag=True, help="Draw with the characters of ASCII only.")
@click.option("--full", is_flag=True, help="Draw every turn, however many there are.")
@click.option("--no-pager", is_flag=True, help="Print a long tree as it is.")
def tree(session: str, index: str | None, as_json: bool, as_ascii: bool, full: bool, no_pager: bool) -> None:
    """Draw a session: its turns, abandoned branches, compactions and agents.

    SESSION is the id of a session or of one of its messages, the beginning of one, words of a title, or the
    number of a result of the last search. Filled circles are the way that the conversation went; what has
    empty ones was abandoned.
    """
    with opened(index) as engine:
        found = engine.outline(titled(engine, session).id, full)
        if as_json:
            from searchkit.render.wire.conversation import outline

            print_json(outline(found, is_full=False))
            return
        reader = audience()
        look = Screen(
            width=reader.width,
            now=time.time(),
            is_coloured=reader.is_coloured,
            is_ascii=as_ascii or reader.is_ascii,
        )
        (reader.print if no_pager else reader.page)(drawing.tree(found, look))
