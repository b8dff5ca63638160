"""One screen or dialog a file, its styles beside it."""
