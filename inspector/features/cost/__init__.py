"""What tools cost: the next request, loading strategies, and every client of this machine."""
