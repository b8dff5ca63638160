"""Toolsight's own tools: handled here, never sent to a server (PRD section 2.8)."""

from inspector.tokens.manifest import SEARCH_TOOLS

CALL_TOOL = "call_tool"
SYNTHETIC = frozenset({SEARCH_TOOLS, CALL_TOOL})
