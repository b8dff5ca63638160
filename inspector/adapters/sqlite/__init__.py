"""Events, server memory and vectors in SQLite."""
