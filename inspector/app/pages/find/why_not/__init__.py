"""Why not: one tool beside the one it has to beat."""
