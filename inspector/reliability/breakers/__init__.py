"""Where the state of breakers is kept."""
