"""Decides what is bound: catalog, context with eviction, gate, preconditions, delivery."""
