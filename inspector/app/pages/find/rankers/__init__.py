"""One query under every ranker."""
