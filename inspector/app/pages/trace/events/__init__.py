"""The events page: the stream of events, by group."""
