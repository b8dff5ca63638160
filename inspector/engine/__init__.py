"""Use cases on top of the domain and the ports; no vendor code, no user interface."""
