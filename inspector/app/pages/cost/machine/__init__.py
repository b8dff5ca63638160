"""The page of the configurations that MCP clients have on this machine."""
