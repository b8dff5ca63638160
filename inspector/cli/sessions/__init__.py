"""`toolsight sessions`: what was recorded or imported, read, measured and exported."""
