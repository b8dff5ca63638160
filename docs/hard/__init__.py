"""Hard cases, measured by hand with `make bench-hard`: a hundred servers, kills, keys under load."""
