"""`toolsight registry`: the tools that are kept beside those of connected servers."""
