"""What the measuring scripts share: corpora, processes and what they cost."""
