"""`toolsight sessions`, `events` and `timeline`."""
