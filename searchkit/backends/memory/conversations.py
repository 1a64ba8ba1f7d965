"""What a memory backend tells of conversations beyond whole sessions."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from searchkit.backends.base import Node, Step


class Conversations(ABC):
    """A backend that is asked for some of a conversation."""

    @abstractmethod
    def _nodes(self) -> Mapping[str, Node]:
        """Return every record as a node, by its uuid."""

    @abstractmethod
    def members(self, session: str, agent: str | None = None, /) -> list[Node]:
        """Return the records of a session, or of one of its agents, as they lie there, copies after others."""

    def nodes(self, keys: Sequence[int], /) -> list[Node]:
        """Return records by their keys, in this order, as they lie at home; one that is gone is left out."""
        held = {node.key: node for node in self._nodes().values()}
        return [held[key] for key in keys if key in held]

    def survey(self, key: int, /) -> None:
        """Return nothing: all is at hand, so that nothing is gained by leaving some of it out."""
        return

    def touching(self, session: str, /) -> list[Step]:
        """Return the calls of a session that touched a file, in line order: of each file and tool the last."""
        steps = [step for node in self.members(session) for step in node.steps if step.path]
        last = {(step.path, step.tool): step for step in steps}
        return [step for step in steps if last[step.path, step.tool] is step]

    def tail(self, session: str, /) -> None:
        """Return nothing, as for a survey."""
        return
