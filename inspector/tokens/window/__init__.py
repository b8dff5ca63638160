"""Fits a conversation into the context window."""
