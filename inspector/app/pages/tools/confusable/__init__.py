"""Confusable tools: pairs that a search may take for one another."""
