"""A tap between a client and a server: what it sees is a session."""
