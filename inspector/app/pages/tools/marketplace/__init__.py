"""The page of what could be installed."""
