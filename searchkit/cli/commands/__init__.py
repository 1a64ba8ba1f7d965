"""The commands, imported only when they are run, and how they leave: with a status, or for a process elsewhere."""

# What others rely on: 0 is found or done.
NOTHING_FOUND = 1
WENT_WRONG = 2
INTERRUPTED = 130


class NotHere(Exception):
    """What was asked for can only be done by a process of the user's own, not by the resident one."""
