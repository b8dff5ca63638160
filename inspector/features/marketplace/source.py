"""The marketplace as the source of a session's further servers: which catalogs there are on this machine."""

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from inspector.cli.location import database_path, fixtures_path
from inspector.cli.options import Options
from inspector.features.marketplace.marketplace import with_marketplace
from inspector.features.marketplace.reader import Catalogs, read_catalogs
from inspector.session.assembly import Ports


def compose(options: Options, ports: Ports) -> Ports:
    """The ports with the marketplace in them."""
    return with_marketplace(ports, partial(_offered, options))


def imported_path(options: Options) -> Path:
    """The folder of the catalogs that were imported, beside the database."""
    return database_path(options).parent / "marketplace"


def _offered(options: Options, files: Sequence[str]) -> Catalogs:
    """The plugins of these files and of what was imported; what cannot be read is a problem."""
    shipped = (fixtures_path() / "marketplace" / "catalog.json").resolve()
    places = {"TOOLSIGHT_PYTHON": sys.executable, "TOOLSIGHT_FIXTURES": str(fixtures_path())}
    kept = sorted(imported_path(options).glob("*.json"))
    # Only Toolsight's own catalog may name places of this machine.
    return read_catalogs([*(Path(file).resolve() for file in files), *kept], {shipped: places})
