"""Reads configuration files: Toolsight's own and, unchanged, those of MCP clients."""

from inspector.config.source.reader import read

__all__ = ["read"]
