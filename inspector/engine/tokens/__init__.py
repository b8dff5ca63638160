"""Tokens: counts, costs, the context window, and the audit of client configurations."""
