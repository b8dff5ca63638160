"""Reads configuration files: Toolsight's own and, unchanged, those of MCP clients."""

from inspector.adapters.files.config.reader import read

__all__ = ["read"]
