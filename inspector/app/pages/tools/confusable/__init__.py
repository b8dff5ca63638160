"""Tools that a search may take for one another."""
