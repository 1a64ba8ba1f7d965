"""Where records, words and vectors are kept.

`base` has the protocols, `registry` opens the backend that a URL means, and each backend is a package of its own.
This room imports `sources`, `query`, `text` and what lies below them; nothing outside imports a backend's package.
"""
