"""`searchkit tree`: draws a session with its branches, compactions and agents."""

import time

import click

from searchkit.cli.completers import complete_session
from searchkit.cli.console import audience
from searchkit.cli.engine import opened
from searchkit.cli.options import common
from searchkit.cli.output import print_json
from searchkit.cli.session_argument import titled
from searchkit.render import outline as drawing
from searchkit.render.terminal import Screen


@click.command()
@common
@click.argument("session", shell_complete=complete_session)
@click.option("--ascii", "as_ascii", is_flag=True, help="Draw with the characters of ASCII only.")
@click.option("--full", is_flag=True, help="Draw every turn, however many there are.")
@click.option("--no-pager", is_flag=True, help="Print a long tree as it is.")
def tree(session: str, index: str | None, as_json: bool, as_ascii: bool, full: bool, no_pager: bool) -> None:
    """Draw a session: its turns, the ways that were left, compactions and agents.

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
