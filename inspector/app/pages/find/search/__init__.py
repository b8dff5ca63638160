"""The search page: a person's search, with the bill of every score."""
