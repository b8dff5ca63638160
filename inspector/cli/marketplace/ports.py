"""What a session's marketplace needs from outside: catalogs, and what changes configuration files."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from inspector.cli import location
from inspector.cli.options import Options
from inspector.registry.marketplace.port import Catalogs, MarketplacePorts


def read_catalogs(options: Options, files: Sequence[str], imported: bool) -> Catalogs:
    """The plugins of these files and, if wanted, of what was imported; what cannot be read is a problem."""
    from inspector.registry.marketplace.reader import kept_catalogs, read_catalogs as read

    shipped = location.shipped_catalog().resolve()
    places = {
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(location.fixtures_path()),
    }
    named = [Path(file).resolve() for file in files]
    kept = kept_catalogs(location.imported_path(options)) if imported else []
    # Only Toolsight's own catalog may name places of this machine.
    return Catalogs(*read([*named, *kept], {shipped: places}))


def make_marketplace(options: Options) -> MarketplacePorts:
    """The marketplace's ports with the real adapters."""
    from inspector.config.editor import ConfigurationEditor

    editor = ConfigurationEditor(os.environ, location.given_inputs(options))
    return MarketplacePorts(partial(read_catalogs, options), editor)
