"""What a command leaves behind when a test runs it with the `run` fixture."""

import json
from collections.abc import Callable
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """Status and output of a command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """What `--json` printed."""
        return json.loads(self.out)


Run = Callable[..., Answer]
