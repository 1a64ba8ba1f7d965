"""Passages for another agent within a budget of tokens: chosen, cut, and packed."""
