"""`toolsight reproduce`."""
