"""The record, the memory and the vectors in SQLite."""
