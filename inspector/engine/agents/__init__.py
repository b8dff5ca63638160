"""Sessions of real agents: transcripts become events, and events tell what to make better."""
