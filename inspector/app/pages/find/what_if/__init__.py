"""An edit of a tool, and what it would change."""
