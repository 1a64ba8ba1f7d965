"""The stories of the bundled sample and the builder that writes them as Claude Code would have."""
