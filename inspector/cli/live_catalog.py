"""The tools that servers have now, for evaluation sets."""

from dataclasses import dataclass, replace

from inspector.access.restriction import OpenedConfiguration
from inspector.cli.composition import read_configuration
from inspector.cli.launch import headless
from inspector.cli.options import Options
from inspector.cli.run import run
from inspector.cli.table import say
from inspector.core.access import Sight
from inspector.core.server import ServerPhase
from inspector.core.settings import DiscoverySettings, GateSettings
from inspector.tokens.manifest import Catalog


@dataclass(frozen=True, slots=True)
class LiveCatalog:
    """The permitted tools of the servers that connected, by which sight, and the settings for searches."""

    catalog: Catalog
    settings: DiscoverySettings
    gate: GateSettings
    sight: Sight


def connect_catalog(options: Options) -> LiveCatalog:
    """Connect to the servers that the options name, list their tools, and disconnect.

    Failed servers are named on stderr. Raises ConfigError.
    """
    return run(_listed(options, read_configuration(options)))


async def _listed(options: Options, opened: OpenedConfiguration) -> LiveCatalog:
    own = opened.seen.settings
    # Only the list is needed: nothing is searched, so nothing is embedded.
    settings = replace(own, discovery=replace(own.discovery, embedding_model="none"))
    async with headless(options, opened.using(settings)) as bench:
        for server in bench.state.servers.values():
            if server.phase is ServerPhase.FAILED:
                say(f"skipped {server.name}: {server.reason}", err=True)
        return LiveCatalog(bench.catalog, own.discovery, bench.settings.gate, bench.sight)
