"""A registry in SQLite."""
