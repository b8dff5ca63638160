"""Servers: started, connected, listed, called, and what crosses the wire."""
