"""What was bound in which call, and replay of any moment."""
