"""`toolsight scenario`, `compare` and `race`."""
