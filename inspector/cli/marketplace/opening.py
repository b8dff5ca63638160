"""Opens a session for the marketplace: nothing is started in it but what a person installs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from inspector.cli.composition import make_workbench, open_memory, read_configuration
from inspector.cli.consent import TerminalApprover, require_consent
from inspector.cli.location import configuration_path
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.session.workbench import Workbench

_NOWHERE = "no configuration"


@asynccontextmanager
async def open_marketplace(options: Options) -> AsyncIterator[Workbench]:
    """A workbench on the configuration that was named, or on none; no server of it is started."""
    named = options.demo or options.server or configuration_path(options) is not None
    configuration = Configuration(_NOWHERE, (), trusted=True)
    if named:
        configuration = read_configuration(options, may_be_empty=True).unrestricted
    approver, memory = TerminalApprover(yes=False), open_memory(options)
    # No server is started, but a file's settings may name catalogs to read and a model to fetch.
    require_consent(replace(configuration, servers=()), memory, approve=options.approve)
    async with make_workbench(configuration, options, approver, memory, record=False) as bench:
        yield bench
