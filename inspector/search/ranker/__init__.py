"""What puts tools in order for a query."""
