"""A tool's texts to edit, and what the draft would change."""
