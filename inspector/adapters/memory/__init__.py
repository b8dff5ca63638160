"""Every port in memory, for tests and offline use."""
