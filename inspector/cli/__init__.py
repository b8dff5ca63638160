"""The `toolsight` command: the composition root, the app, and a headless twin of everything the app does."""

from inspector.cli.root import main

__all__ = ["main"]
