"""Finding tools: one ranker a file, each explaining its scores part by part."""
