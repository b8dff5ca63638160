"""Statistics over sessions, and their spans."""
