"""The local backend, in one directory: a catalog in SQLite, words in Tantivy and vectors in LanceDB derived from it.

It is found by `searchkit.backends.registry`; nothing outside `searchkit.backends` imports it.
"""

# The file that makes a directory an index.
CATALOG = "catalog.db"
