"""A corpus of made-up transcripts in the shape of real ones, with a manifest of what it holds."""
