"""Audits what the servers of this machine's MCP clients cost."""
