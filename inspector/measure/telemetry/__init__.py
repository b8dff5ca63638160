"""Statistics over recorded sessions, record by record: what was found and used, how fast, and what failed."""
