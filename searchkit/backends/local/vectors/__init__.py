"""The vectors in LanceDB: the table, its rows, and what is still to be embedded."""
