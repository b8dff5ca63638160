"""Who may see which tools in a session: the filter behind which everything else works."""
