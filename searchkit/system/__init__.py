"""What the operating system does for us: private files, locks, memory, deadlines, paths.

Imports the standard library and errors only.
"""
