"""What every ToolRegistry promises, over every implementation."""
