"""Trials of what is promised: nothing lost, nothing doubled, nothing silent; `main` runs them as one campaign."""
