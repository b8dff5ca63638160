"""What every room speaks of: tools, servers, settings, events, and the state built from them."""
