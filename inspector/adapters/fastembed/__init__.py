"""Embedding models through fastembed."""
