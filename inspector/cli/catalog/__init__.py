"""`toolsight servers`, `tools` and `manifest`."""
