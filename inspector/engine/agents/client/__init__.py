"""Real clients:  what is known of each, and what a catalog becomes there."""
