"""Facts 9, 11, 12 and 16 to 19 of FORMAT: what of a record is text, and whose."""

from collections.abc import Callable

import pytest

from searchkit.backends.base import Backend
from searchkit.types import Kind, Role
from tests.support.answers import SESSION, facts_of, found, kept, said, session_of, texts
from tests.support.transcript import Home, tool_id

Index = Callable[[], Backend]
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo" + "A" * 400}}


def test_fact_09_words_typed_while_the_assistant_worked_are_prompts(home: Home, indexed: Index) -> None:
    """What exists only as a queued_command is a prompt of the person, found like any other."""
    transcript = home.session(SESSION)
    transcript.prompt("fix the build")
    transcript.attachment("queued_command", prompt="and bump the zeppelin version", commandMode="prompt")
    transcript.text("done")

    backend = indexed()

    (hit,) = found(backend, "zeppelin")
    assert (Kind.PROMPT, Role.USER) == (hit.part.kind, hit.part.role)
    assert 2 == session_of(backend).prompts


def test_fact_09_same_words_queued_twice_are_two_prompts(home: Home, indexed: Index) -> None:
    """A queued prompt is as good as a typed one: saying the same again is another part, not a repeat."""
    transcript = home.session(SESSION)
    transcript.prompt("continue")
    transcript.attachment("queued_command", prompt="continue", commandMode="prompt")

    backend = indexed()

    assert [("prompt", "continue")] * 2 == said(backend)
    assert 0 == backend.catalog.counts().repeats


def test_fact_09_queued_words_also_held_by_the_queue_are_one_prompt(home: Home, indexed: Index) -> None:
    """The queue's own line of a queued prompt only repeats it, whichever comes first."""
    transcript = home.session(SESSION)
    queued = {"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION}
    transcript.line({**queued, "timestamp": "2026-03-01T09:00:00.000Z", "content": "also run ruff"})
    transcript.attachment("queued_command", prompt="also run ruff", commandMode="prompt")

    backend = indexed()

    assert [("prompt", "also run ruff")] == said(backend)
    assert "attachment" == kept(backend)[0].link.type
    assert 1 == backend.catalog.counts().repeats


def test_fact_11_tool_use_result_adds_no_text(home: Home, indexed: Index) -> None:
    """What toolUseResult repeats is not kept again, and the whole original file of an edit not at all."""
    transcript = home.session(SESSION)
    run = transcript.call("Bash", {"command": "cat notes"})
    transcript.result(run, "remember the milk", toolUseResult={"stdout": "remember the milk", "stderr": ""})
    edit = transcript.call("Edit", {"file_path": "/shop/a.py", "old_string": "1", "new_string": "2"})
    outcome = {"filePath": "/shop/a.py", "originalFile": "a xylophone in the original", "structuredPatch": []}
    transcript.result(edit, "The file was updated.", toolUseResult=outcome)

    backend = indexed()

    written = "file_path: /shop/a.py\nold_string: 1\nnew_string: 2"
    assert ["command: cat notes", "remember the milk", written, "The file was updated."] == texts(backend)
    assert [] == found(backend, "xylophone")


def test_fact_11_tool_use_result_tells_which_agent_a_call_started(home: Home, indexed: Index) -> None:
    """Facts are taken from toolUseResult: the agent that ran for a call is known by the call."""
    transcript = home.session(SESSION)
    call = transcript.call("Task", {"prompt": "explore"})
    transcript.result(call, "found it", toolUseResult={"agentId": "a1b2c3d", "status": "completed", "content": []})

    assert [("a1b2c3d", tool_id(call))] == facts_of(indexed(), "call")


def persisted(path: str) -> str:
    """Write a result the way Claude Code does when its text went into a file."""
    return f"<persisted-output>\nOutput too large (1MB). Full output saved to: {path}\n\nPreview:\nonly the top\n"


@pytest.mark.parametrize(
    "path",
    [
        "/home/else/.claude/projects/-p/s/tool-results/{}",
        "C:\\Users\\Else\\.claude\\projects\\p\\s\\tool-results\\{}",
    ],
    ids=["unix", "windows"],
)
def test_fact_12_persisted_output_is_read_whole_by_base_name(home: Home, indexed: Index, path: str) -> None:
    """A result that names another machine's path has the whole text of the file of that name here."""
    transcript = home.session(SESSION)
    call = transcript.call("Bash", {"command": "make"})
    home.overflow(SESSION, "toolu_01.txt", "only the top\nand the quagga at the very end\n")
    transcript.result(call, persisted(path.format("toolu_01.txt")))

    backend = indexed()

    (hit,) = found(backend, "quagga")
    assert ("only the top\nand the quagga at the very end\n", "Bash") == (hit.part.text, hit.part.tool)
    assert 1 == backend.catalog.counts().parts["tool_result"]


def test_fact_12_persisted_output_without_its_file_keeps_the_preview(home: Home, indexed: Index) -> None:
    """Where the file is missing the preview is kept as it stands."""
    transcript = home.session(SESSION)
    preview = persisted("/elsewhere/tool-results/toolu_02.txt")
    transcript.result(transcript.call("Bash", {"command": "make"}), preview)

    assert preview == texts(indexed())[-1]


def test_fact_16_lone_surrogate_is_replaced_and_its_line_kept(home: Home, indexed: Index) -> None:
    """Half a surrogate pair becomes U+FFFD, a whole pair stays the character it is."""
    transcript = home.session(SESSION)
    transcript.prompt("before")
    record = b'{"type":"user","uuid":"aaaaaaaa-0000-4000-8000-000000000001","sessionId":"%s",' % SESSION.encode()
    transcript.raw(record + b'"message":{"role":"user","content":"torn \\ud83d smile \\ud83d\\ude00 end"}}\n')
    transcript.prompt("after")

    backend = indexed()

    assert ["before", "torn \ufffd smile \U0001f600 end", "after"] == texts(backend)
    assert 0 == backend.catalog.counts().torn


def test_fact_17_empty_thinking_is_counted_and_makes_no_part(home: Home, indexed: Index) -> None:
    """A thinking block that is only a signature makes no part, but its record stays in the chain."""
    transcript = home.session(SESSION)
    transcript.thinking("")
    transcript.thinking("the cache is stale")

    backend = indexed()

    assert [("thinking", "the cache is stale")] == said(backend)
    assert {"empty_thinking": 1} == backend.catalog.counts().noise
    assert 2 == backend.catalog.counts().links


def test_fact_17_images_and_documents_leave_the_text_around_them(home: Home, indexed: Index) -> None:
    """Base64 of images and PDFs is no text; the words in the same record are, under their own block number."""
    transcript = home.session(SESSION)
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0" * 99}}
    transcript.prompt([IMAGE, {"type": "text", "text": "what is on this picture?"}, pdf])
    shot = transcript.call("mcp__puppeteer__puppeteer_screenshot", {"name": "cart"})
    transcript.result(shot, [{"type": "text", "text": "taken"}, IMAGE])
    transcript.result(shot, [IMAGE])

    backend = indexed()

    assert ["what is on this picture?", "name: cart", "taken"] == texts(backend)
    assert 1 == kept(backend)[0].part.block
    assert "iVBORw0KGgo" not in "".join(texts(backend))


MACHINE_TEXTS = [
    ("<command-name>/compact</command-name>\n<command-message>compact</command-message>", Kind.COMMAND, Role.USER),
    ("<bash-input>git status</bash-input>", Kind.COMMAND, Role.USER),
    ("<local-command-stdout>Compacted</local-command-stdout>", Kind.COMMAND, Role.SYSTEM),
    ("<bash-stdout>clean</bash-stdout><bash-stderr></bash-stderr>", Kind.COMMAND, Role.SYSTEM),
    ("<task-notification>\n<task-id>b1</task-id>\n</task-notification>", Kind.SYSTEM, Role.SYSTEM),
    ("<system-reminder>The file changed.</system-reminder>", Kind.SYSTEM, Role.SYSTEM),
    ("<local-command-caveat>Caveat: the messages below</local-command-caveat>", Kind.SYSTEM, Role.SYSTEM),
    ("[Request interrupted by user for tool use]", Kind.SYSTEM, Role.SYSTEM),
]


@pytest.mark.parametrize(("text", "kind", "role"), MACHINE_TEXTS, ids=[text[:20] for text, _, _ in MACHINE_TEXTS])
def test_fact_18_text_that_opens_with_a_tag_is_not_a_prompt(
    home: Home, indexed: Index, text: str, kind: Kind, role: Role
) -> None:
    """A user record in the machine's words is a command or a system text, and counts as no prompt."""
    transcript = home.session(SESSION)
    transcript.prompt(text)

    backend = indexed()

    (only,) = kept(backend)
    assert (kind, role) == (only.part.kind, only.part.role)
    assert 0 == session_of(backend).prompts


def test_fact_18_tool_results_in_user_records_are_not_prompts(home: Home, indexed: Index) -> None:
    """Most user records only carry results; of those no prompt is made."""
    transcript = home.session(SESSION)
    transcript.prompt("list them")
    transcript.result(transcript.call("Bash", {"command": "ls"}), "cart.py")

    backend = indexed()

    assert {"prompt": 1, "tool_call": 1, "tool_result": 1} == backend.catalog.counts().parts


LANGUAGES = [
    ("请修复登录页面的问题", "登录"),
    ("ログイン画面の不具合を直してください", "画面"),
    ("로그인 화면의 오류를 고쳐 주세요", "오류"),
    ("Corrige le problème d'accès à la base", "problème"),
    ("¿Por qué falló la conexión?", "conexión"),
    ("Исправь ошибку входа", "ошибку"),
]


@pytest.mark.parametrize("text", [text for text, _ in LANGUAGES], ids=["zh", "ja", "ko", "fr", "es", "ru"])
def test_fact_19_text_of_any_language_is_kept_letter_by_letter(home: Home, indexed: Index, text: str) -> None:
    """No letter of any language is lost between the file and the catalog."""
    transcript = home.session(SESSION)
    transcript.prompt(text)

    assert [text] == texts(indexed())


@pytest.mark.parametrize(("text", "word"), LANGUAGES, ids=["zh", "ja", "ko", "fr", "es", "ru"])
def test_fact_19_word_is_found_in_any_language(home: Home, indexed: Index, text: str, word: str) -> None:
    """A word is found whether or not spaces stand around it."""
    transcript = home.session(SESSION)
    transcript.prompt("nothing of the sort")
    transcript.prompt(text)

    assert [text] == [hit.part.text for hit in found(indexed(), word)]
