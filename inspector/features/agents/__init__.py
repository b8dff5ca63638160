"""Sessions of real agents: their transcripts, and the tap on their servers."""
