"""The rankers, one per file, and the list of them."""
