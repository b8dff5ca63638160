"""Settings: the session's profile and its values."""
