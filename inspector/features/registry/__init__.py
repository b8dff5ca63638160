"""Stored tools and their versions, beside those of connected servers."""
