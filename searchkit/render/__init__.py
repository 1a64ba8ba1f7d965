"""How results look: pure functions from values to text."""
