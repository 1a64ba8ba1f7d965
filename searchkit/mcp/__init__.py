"""What agents reach over the Model Context Protocol: tools, resources, and the two ways to the server.

`bridge` and `jsonrpc` are what an agent starts, and import the standard library only; `server` has the SDK, behind
`http` in the resident process or without it. `tools/` has one file for each tool. It imports the engine,
`render` and `client`.
"""
