"""What real clients make of the tools."""
