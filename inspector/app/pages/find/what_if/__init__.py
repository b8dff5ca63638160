"""What if: an edit of a tool, and what it would change."""
