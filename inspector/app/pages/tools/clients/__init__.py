"""The clients page: the tools as real clients get them."""
