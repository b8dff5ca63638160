"""Clients as measured: a stand-in for the model, what it has a client do, and the facts that this shows."""
