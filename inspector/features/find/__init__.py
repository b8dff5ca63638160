"""Searches, and why they find a tool or do not."""
