"""`toolsight sessions metrics` and `unmet`: sums over recorded sessions."""
