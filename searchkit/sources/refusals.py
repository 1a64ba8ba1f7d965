"""What a client says itself where it ran no tool: such a result failed, and is no error of anything that was run."""

import re

# Claude Code marks most of its own; older versions and other tools of it do not.
_REFUSALS = re.compile(
    r"<tool_use_error>"
    r"|(?:Error: )?File has not been read yet"
    r"|File has been (?:unexpectedly )?modified"
    r"|File does not exist\."
    r"|File content \([^)]*\) exceeds maximum"
    r"|Cancelled: parallel tool call"
    r"|Sibling tool call errored"
    r"|String to replace not found"
    r"|Found \d+ matches of the string to replace"
    r"|InputValidationError"
    r"|The user doesn't want to (?:proceed|take this action)"
    r"|\[Request interrupted by user"
    r"|Permission (?:to use|for this tool use)"
    r"|\w+ requested permissions to"
    r"|EISDIR: illegal operation on a directory, read"
    r"|Ripgrep search timed out"
    r"|Request failed with status code"
)


def is_refusal(text: str) -> bool:
    """Say whether the text of a result is the client's own, and not what a command or a tool printed."""
    return _REFUSALS.match(text.lstrip()) is not None
