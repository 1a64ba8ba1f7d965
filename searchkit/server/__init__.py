"""One process per index that keeps everything open: it answers clients, follows changes, and leaves when idle.

Importing the package imports nothing: clients must start fast.
"""
