"""One question under two profiles, side by side."""
