"""Attachments: what Claude Code tells the model beside the conversation (2.1.90 and later).

Every text carries a number of its own or is sent twice on purpose, so that it is plain which is a repeat.
"""

from tests.corpus import listings, words
from tests.corpus.conversation import Conversation, Record

WITHOUT_TEXT = ("auto_mode_exit", "ultrathink_effort")


def attach(conversation: Conversation) -> None:
    """Write one attachment, now and then the same one twice, now and then one without text."""
    world = conversation.world
    if world.chance(0.03):
        conversation.attachment({"type": world.rng.choice(WITHOUT_TEXT)}, "", None)
        return
    fields, text = _make(conversation)
    conversation.attachment(fields, text)
    if world.chance(0.06):
        conversation.attachment(dict(fields), text)


def announce(conversation: Conversation) -> None:
    """Write the listings that open a session."""
    number = conversation.world.number()
    skills = conversation.text.prose("answer", "en", 2_400) + f" ({number} skills)"
    listing = {"type": "skill_listing", "content": skills, "skillCount": 12, "isInitial": True}
    conversation.attachment(listing, skills)
    if conversation.world.chance(0.4):
        names = [f"Tool{number}", "WebFetch"]
        delta = {"type": "deferred_tools_delta", "addedNames": names, "addedLines": names, "removedNames": []}
        conversation.attachment(delta, f"tools {number}")


def _make(conversation: Conversation) -> tuple[Record, str]:
    world, text = conversation.world, conversation.text
    number = world.number()
    roll = world.rng.random()
    hook = {
        "hookName": "PostToolUse:Edit",
        "toolUseID": "toolu_01" + conversation.token(22),
        "hookEvent": "PostToolUse",
    }
    if roll < 0.48:
        said = f"checked in run {number}: {text.printed('log', text.size(500, 1.0, 9_000))}"
        fields = {"type": "hook_success", **hook, "content": "", "stdout": said, "stderr": "", "exitCode": 0}
        return {**fields, "command": "hooks/format.sh", "durationMs": 40 + number % 90}, said
    if roll < 0.62:
        said = f"Total tokens used so far: {number}"
        return {"type": "total_tokens_reminder", "text": said}, said
    if roll < 0.7:
        said = f"{number}: {text.printed('shell', text.size(400, 0.9, 5_000))}"
        fields = {"type": "async_hook_response", "processId": f"p{number}", "hookName": "Stop", "hookEvent": "Stop"}
        return {**fields, "response": {"ok": True}, "stdout": said, "stderr": "", "exitCode": 0}, said
    if roll < 0.78:
        name = "task_reminder" if roll < 0.75 else "todo_reminder"
        rows = [{"id": "1", "subject": f"{text.line(words.TASKS)} ({number})", "status": "pending"}]
        return {"type": name, "content": rows, "itemCount": 1}, str(number)
    if roll < 0.82:
        said = f"hook {number} failed: {text.printed('trace', 300)}"
        fields = {"type": "hook_non_blocking_error", **hook, "stderr": said, "stdout": "", "exitCode": 1}
        return {**fields, "command": "hooks/lint.sh", "durationMs": 12}, said
    if roll < 0.86:
        said = f"Context {number}. {text.prose('answer', 'en', 300)}"
        return {"type": "hook_additional_context", **hook, "content": [said]}, said
    if roll < 0.93 and conversation.project.touched:
        return _file(conversation, number)
    if roll < 0.97:
        skill = f"{text.line((listings.SKILL,))}\n{number}"
        return {"type": "invoked_skills", "skills": [{"name": "review", "content": skill}]}, skill
    said = f"Goal {number} is not met. {text.prose('thought', 'en', 200)}"
    return {"type": "hook_system_message", **hook, "content": said}, said


def _file(conversation: Conversation, number: int) -> tuple[Record, str]:
    world, text = conversation.world, conversation.text
    path = world.rng.choice(conversation.project.touched)
    body = f"// {number}\n{text.printed('code', text.size(3_000, 0.9, 30_000))}"
    form = world.rng.random()
    if form < 0.4:
        memory = {"path": path, "type": "Project", "content": body}
        return {"type": "nested_memory", "path": path, "content": memory, "displayPath": path}, body
    if form < 0.7:
        return {"type": "edited_text_file", "filename": path, "snippet": body}, body
    file = {"filePath": path, "content": body, "numLines": 9, "startLine": 1, "totalLines": 9}
    content = {"type": "text", "file": file}
    return {"type": "file", "filename": path, "content": content, "displayPath": path}, body
