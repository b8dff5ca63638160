"""The session: conversation, budget, bound tools, newest events."""
