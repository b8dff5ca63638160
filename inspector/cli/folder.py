"""The configuration of a folder. This imports nothing, because the first frame waits for it."""

from pathlib import Path

FOUND_IN_FOLDER = ("toolsight.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json")


def found_in(folder: Path) -> Path | None:
    """The first configuration file in a folder; None without one."""
    candidates = (folder / name for name in FOUND_IN_FOLDER)
    return next((path for path in candidates if path.is_file()), None)
