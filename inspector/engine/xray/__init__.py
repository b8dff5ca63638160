"""The score X-ray: why a search finds a tool or does not, and what would change it."""
