"""What the servers offer: every server and tool, and calls to them by hand."""
