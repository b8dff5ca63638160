"""The user's real agents: their clients, and what their sessions did."""
