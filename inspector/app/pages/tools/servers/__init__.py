"""The servers: how each is connected and what it costs."""
