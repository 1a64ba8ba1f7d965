"""The commands, one file each and imported only when it is run, and the statuses they leave with."""

# What others rely on: 0 is found or done.
NOTHING_FOUND = 1
WENT_WRONG = 2
INTERRUPTED = 130
