"""The user's real agents: their clients, and what a server's tools become there."""
