"""Runs the real Claude Code against a scripted Messages API and checks what searchkit makes of its transcripts."""
