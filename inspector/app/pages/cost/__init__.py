"""Place 4: what a request costs, and what would cost less."""
