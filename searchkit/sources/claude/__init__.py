"""Claude Code: transcripts and side files below a root such as `~/.claude`."""

from searchkit.sources.claude.source import ClaudeSource

__all__ = ["ClaudeSource"]
