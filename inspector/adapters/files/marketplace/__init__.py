"""Reads catalogs of plugins: Toolsight's own format, and what the official MCP registry answers."""
