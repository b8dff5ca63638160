"""Exact token counts of the request that is sent."""
