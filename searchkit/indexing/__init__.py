"""From sources to a backend: changes become parts, parts become batches, and vectors follow."""
