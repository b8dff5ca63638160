"""What the servers of the clients on a machine cost."""
