"""How results look: pure functions from values to lines of a terminal, Markdown, HTML and JSON.

`document` is what a conversation or an outline consists of; `terminal`, `markdown` and `html` write one. `wire` has the
structs of our JSON. It imports the engine's values and the rooms below it; no core room imports it.
"""
