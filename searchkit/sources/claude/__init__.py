"""Claude Code: transcripts and side files below a root such as `~/.claude`."""

from searchkit.sources.claude.caller import last_written, session_of_call, session_of_client
from searchkit.sources.claude.images import pictures, records_with_pictures
from searchkit.sources.claude.source import ClaudeSource

open = ClaudeSource

__all__ = [
    "ClaudeSource",
    "last_written",
    "open",
    "pictures",
    "records_with_pictures",
    "session_of_call",
    "session_of_client",
]
