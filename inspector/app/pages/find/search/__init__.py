"""A search as a person makes it, with the bill of every score."""
