"""The page before a session: what to open, if nothing was named."""
