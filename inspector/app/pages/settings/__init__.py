"""Profile and settings of the session."""
