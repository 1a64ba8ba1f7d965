"""Whose words a text is: the person's, a command's, or the machine's."""

import pytest

from searchkit.sources.claude.messages import Words, classify
from searchkit.types import Kind, Role

COMMANDS = [
    ("<command-name>/clear</command-name>", "/clear"),
    ("<command-name>clear</command-name>", "/clear"),
    ("<command-message>review</command-message>\n<command-name>/review</command-name>", "/review"),
    (
        "<command-name>/review</command-name>\n<command-message>review</command-message>\n"
        "<command-args>the cart\nand the order</command-args>",
        "/review the cart\nand the order",
    ),
    (
        "<command-message>is reviewing…</command-message>\n<command-name>/review</command-name>",
        "/review\nis reviewing…",
    ),
    ("<command-message>init</command-message>", "/init"),
    ("<command-name>/model</command-name>\n<command-args></command-args>\nSet to opus", "/model\nSet to opus"),
    ("<bash-input>git status</bash-input>", "! git status"),
    ("<bash-input>\n  make test \n</bash-input>", "! make test"),
]


@pytest.mark.parametrize(("text", "typed"), COMMANDS, ids=[typed for _, typed in COMMANDS])
def test_command_reads_as_it_was_typed(text: str, typed: str) -> None:
    """A slash command or a shell command is the person's, written the way he typed it."""
    assert Words(Kind.COMMAND, Role.USER, typed) == classify(text)


@pytest.mark.parametrize("tag", ["local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"])
def test_output_of_a_command_is_the_machines(tag: str) -> None:
    """What a command printed belongs to the command, but the person did not say it."""
    text = f"<{tag}>done</{tag}>"

    assert Words(Kind.COMMAND, Role.SYSTEM, text) == classify(text)


MACHINE = [
    "<task-notification>\n<task-id>b1</task-id>",
    "<system-reminder>\nToday is Sunday",
    "<local-command-caveat>Caveat",
    '<teammate-message teammate_id="lead">go',
    "  \n<system-reminder>indented",
    "<ide_opened_file>The user opened a.py",
    "[Request interrupted by user]",
    "[Request interrupted by user for tool use]",
]


@pytest.mark.parametrize("text", MACHINE, ids=[text.strip()[:24] for text in MACHINE])
def test_machine_tag_opens_a_system_text(text: str) -> None:
    """What opens with one of the machine's own tags or phrases was said by nobody."""
    assert Words(Kind.SYSTEM, Role.SYSTEM, text) == classify(text)


PERSON = [
    "fix the build",
    "<td>why is this cell empty?</td>",
    "<context>\nour shop\n</context>\nfix it",
    "<div class='cart'>",
    "what does <system-reminder> mean?",
    "< 5 items",
    "<!-- comment -->",
    "",
]


@pytest.mark.parametrize("text", PERSON, ids=[text[:24] or "nothing" for text in PERSON])
def test_other_markup_may_be_the_persons(text: str) -> None:
    """People paste markup and talk about tags; that stays a prompt."""
    assert Words(Kind.PROMPT, Role.USER, text) == classify(text)


@pytest.mark.parametrize("origin", ["task-notification", "peer", "coordinator"])
def test_message_of_another_program_is_a_system_text(origin: str) -> None:
    """An origin that is no person makes plain text the machine's."""
    assert Kind.SYSTEM is classify("the tests are through", origin=origin).kind


def test_message_from_a_channel_is_the_persons() -> None:
    """What came through a channel was typed elsewhere; its wrapping is taken off."""
    wrapped = '<channel source="telegram" user="mira">\nhow is it going?\n</channel>'

    assert Words(Kind.PROMPT, Role.USER, "how is it going?") == classify(wrapped, origin="channel")
    assert Words(Kind.PROMPT, Role.USER, "bare") == classify("bare", origin="channel")


def test_human_origin_changes_nothing() -> None:
    """An origin that says human leaves a prompt a prompt and a tag a tag."""
    assert Kind.PROMPT is classify("fix it", origin="human").kind
    assert Kind.SYSTEM is classify("<system-reminder>x", origin="human").kind


def test_meta_text_is_the_machines() -> None:
    """Text put in for the person is a system text; as the expansion of a command it belongs to the command."""
    assert Words(Kind.SYSTEM, Role.SYSTEM, "Continue.") == classify("Continue.", is_meta=True)
    assert Words(Kind.COMMAND, Role.SYSTEM, "Review…") == classify("Review…", is_meta=True, is_expansion=True)
