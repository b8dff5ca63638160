"""One running session: its view, its commands, and the parts it consists of."""
