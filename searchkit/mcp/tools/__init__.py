"""The tools that agents call, one file for each: its arguments, its answer, how it runs, and its text.

`base` has what they share, `registry` names them. A new tool is a new file with a `TOOL`, and a row in the registry;
`SKILL.md` of the plugin and `docs/agents.md` tell agents and people of it. Tools import the engine, the query language,
`render`, and the files of `mcp/` that quote texts, find the caller and explain empty answers; none imports the MCP SDK.
"""
