"""The truth in SQLite: records, parts, texts, sessions, threads, and what checks and mends them."""
