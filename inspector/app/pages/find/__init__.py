"""Place 3: one query, and why it finds what it finds."""
