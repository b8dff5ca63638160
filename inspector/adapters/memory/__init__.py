"""Every port in memory, for tests and trials."""
