"""Commands about real clients: what is known of them, and a catalog as they get it."""
