"""The full-screen interface for a terminal: a query line, results, facets and a preview of the conversation.

It reads the index as the page does, through the resident process where there is one.
It imports the engine, `render`, `client` and what the page asks for; only `cli` imports it, and only to open it.
Texts of transcripts reach the screen as `rich.text.Text`, never as markup.
"""
