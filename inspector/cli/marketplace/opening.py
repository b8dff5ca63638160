"""Opens a session for the marketplace: nothing is started in it but what a person installs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from inspector.cli.composition import configuration_path, make_workbench, open_memory, read_configuration
from inspector.cli.consent import TerminalApprover
from inspector.cli.options import Options
from inspector.domain.configuration import Configuration
from inspector.engine.workbench import Workbench

_NOWHERE = "no configuration"


@asynccontextmanager
async def open_marketplace(options: Options) -> AsyncIterator[Workbench]:
    """A workbench on the configuration that was named, or on none; no server of it is started."""
    named = options.demo or options.server or configuration_path(options) is not None
    configuration = Configuration(_NOWHERE, (), trusted=True)
    if named:
        configuration = read_configuration(options, may_be_empty=True).unrestricted
    approver = TerminalApprover(yes=False)
    async with make_workbench(configuration, options, approver, open_memory(options), record=False) as bench:
        yield bench
