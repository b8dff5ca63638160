"""What the servers of every client on this machine cost."""
