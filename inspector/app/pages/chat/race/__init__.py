"""Static binding against discovery on the same task."""
