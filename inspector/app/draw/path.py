"""Paths as people write them."""

import os
from pathlib import Path


def shown_path(source: str) -> str:
    """Return a path with `~` for the home folder; any other text stays as it is."""
    home = f"{Path.home()}{os.sep}"
    return f"~{os.sep}{source.removeprefix(home)}" if source.startswith(home) else source
