"""Who may see which tools."""
