"""The tools that servers have now, for evaluation sets."""

import asyncio
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from inspector.cli.composition import demo_configuration, read_configuration
from inspector.cli.launch import headless
from inspector.cli.options import Options
from inspector.cli.render import say
from inspector.domain.catalog import Catalog
from inspector.domain.configuration import Configuration
from inspector.domain.server import ServerPhase
from inspector.domain.settings import DiscoverySettings, GateSettings


@dataclass(frozen=True, slots=True)
class LiveCatalog:
    """The permitted tools of the servers that connected, and the settings for searches and the gate."""

    catalog: Catalog
    settings: DiscoverySettings
    gate: GateSettings


def connect_catalog(options: Options, *, demo: bool) -> LiveCatalog:
    """Connect to the servers of the configuration or the demo, list their tools, and disconnect.

    Failed servers are named on stderr. Raises ConfigError.
    """
    with ExitStack() as stack:
        if demo:
            state = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolsight-demo-"))
            configuration = demo_configuration(Path(state))
        else:
            configuration = read_configuration(options)
        return asyncio.run(_listed(options, configuration))


async def _listed(options: Options, configuration: Configuration) -> LiveCatalog:
    discovery = configuration.settings.discovery
    # Only the list is needed: nothing is searched, so nothing is embedded.
    settings = replace(configuration.settings, discovery=replace(discovery, embedding_model="none"))
    async with headless(options, replace(configuration, settings=settings)) as bench:
        for server in bench.state.servers.values():
            if server.phase is ServerPhase.FAILED:
                say(f"{server.name} is left out: {server.reason}", err=True)
        return LiveCatalog(bench.catalog, discovery, bench.settings.gate)
