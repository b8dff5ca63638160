"""The session page: conversation, budget, tools and the newest events."""
