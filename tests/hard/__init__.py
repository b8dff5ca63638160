"""Hard cases, measured by hand: a hundred servers, ten thousand tools, kills, keys under load."""
