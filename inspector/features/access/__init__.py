"""Who may see which tools, and why."""
