"""The page: its files, and what it asks for beside what commands print."""
