"""The profile in use, and every setting of it."""
