"""The timeline: what was bound in which call, and replay of any moment."""
