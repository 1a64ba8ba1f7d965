"""`searchkit completion`: prints what a shell needs to complete commands, options and values."""

import click
from click.shell_completion import get_completion_class

from searchkit.cli.console import print_json, print_lines
from searchkit.cli.options import VARIABLE, common
from searchkit.render.wire.health import Script

PROGRAM = "searchkit"


@click.command()
@common
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str, index: str | None, as_json: bool) -> None:
    """Print the script by which a shell completes commands, options and values.

    \b
    bash, in ~/.bashrc:                      eval "$(searchkit completion bash)"
    zsh, in ~/.zshrc:                        eval "$(searchkit completion zsh)"
    fish, in ~/.config/fish/config.fish:     searchkit completion fish | source
    """
    found = get_completion_class(shell)
    assert found is not None
    script = found(click.get_current_context().find_root().command, {}, PROGRAM, VARIABLE).source()
    if as_json:
        print_json(Script(shell=shell, script=script))
    else:
        print_lines([script])
