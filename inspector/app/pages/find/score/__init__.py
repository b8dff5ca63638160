"""One score, itemized."""
