"""What the servers of this machine's clients cost."""
