"""How a conversation is made to fit the context window."""
