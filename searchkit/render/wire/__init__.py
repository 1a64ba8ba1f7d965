"""What `--json` prints and HTTP answers: structs whose field names, order and absences are a promise to programs.

Each file has the structs of one subject and the functions that make them of the values of the core; their docstrings
and descriptions are what the OpenAPI description says. Fields are added, never renamed. It imports the core and the
wording of `render`; commands import it only where `--json` is asked for: a search for people has no use for it.
"""
