"""The tools that are kept beside those of connected servers: their origins and versions, and a search."""
