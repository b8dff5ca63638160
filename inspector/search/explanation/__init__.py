"""Explains why a search finds a tool or not, and what an edit would change; pure functions."""
