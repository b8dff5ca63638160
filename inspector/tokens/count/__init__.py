"""Counts the tokens of the request exactly as sent."""
