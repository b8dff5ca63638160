"""Discovery: documents, index, embedding, rankers, and what explains their scores."""
