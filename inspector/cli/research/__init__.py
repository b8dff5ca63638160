"""`toolsight bench papers`."""
