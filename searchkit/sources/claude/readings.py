"""The version of this reading, and what it knows of records that an earlier one read otherwise."""

from searchkit.sources.claude.events import REQUESTS
from searchkit.types import Kind, Reading

# Raised whenever the same bytes make other parts, facts or links.
READING = Reading(
    version=3,
    # Copies of requests were read as messages.
    silent=REQUESTS,
    # Copies of prompts were read as prompts.
    kinds={"last-prompt": Kind.HISTORY},
    # Messages in records of unknown types were read as a person's.
    typing=frozenset({"user", "attachment", "queue-operation", "progress", "system"}),
)
