"""Reads the catalogs that a session searches."""

import sys
from collections.abc import Sequence
from pathlib import Path

from inspector.cli import composition
from inspector.cli.options import Options
from inspector.engine.marketplace.port import Catalogs


def read_catalogs(options: Options, files: Sequence[str], imported: bool) -> Catalogs:
    """The plugins of these files and, if wanted, of what was imported; what cannot be read is a problem."""
    from inspector.adapters.files.marketplace.reader import kept_catalogs, read_catalogs as read

    shipped = composition.shipped_catalog().resolve()
    places = {
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(composition.fixtures_path()),
    }
    named = [Path(file).resolve() for file in files]
    kept = kept_catalogs(composition.imported_path(options)) if imported else []
    # Only Toolsight's own catalog may name places of this machine.
    return Catalogs(*read([*named, *kept], {shipped: places}))
