"""`toolsight search`, `confusable` and `whatif`."""
