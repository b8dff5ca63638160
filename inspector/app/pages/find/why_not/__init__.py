"""One tool against the one it has to beat."""
