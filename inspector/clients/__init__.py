"""Real clients: how they show a catalog, how they search it, and what their transcripts tell."""
