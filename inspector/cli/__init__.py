"""The command `toolsight`: the composition root, the app, and a headless twin of everything it does."""

from inspector.cli.root import main

__all__ = ["main"]
