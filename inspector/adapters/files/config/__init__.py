"""Reads configuration files: Toolsight's own, and those of the MCP clients as they are."""

from inspector.adapters.files.config.reader import read

__all__ = ["read"]
