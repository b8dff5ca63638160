"""Published tables beside our own numbers."""
