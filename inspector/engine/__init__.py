"""Use cases over the domain and the ports; no vendor, no screen."""
