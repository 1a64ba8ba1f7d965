"""The page: its files, and what it asks for beside what commands print.

It imports the engine, `render` and the parameters of endpoints; `server` serves it.
"""
