"""One ranker a file, and the list of them."""
