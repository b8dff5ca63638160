"""Searching tools: documents, index, embedding, rankers, and the explanation of a score."""
