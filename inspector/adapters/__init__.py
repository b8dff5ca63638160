"""Implementations of the engine's ports, by vendor; each imports its vendor on first use."""
