"""The stream of events, by group."""
