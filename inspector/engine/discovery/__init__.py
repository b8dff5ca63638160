"""Tool search: documents, index, embedding, rankers, and explanations of scores."""
