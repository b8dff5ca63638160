"""The sessions page: every recorded session, and those of real agents, imported from their transcripts."""
