"""How a program of this package reaches the resident process: its address, its lock, a request, start and stop.

Imports the standard library, `errors` and `system` only, because every command imports it before anything else.
"""
