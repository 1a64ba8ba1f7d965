"""From one record to its conversation: threads, turns, subagents, outlines, fixes, and what an id names."""
