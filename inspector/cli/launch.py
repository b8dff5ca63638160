"""Opens a headless session with every server connected."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from inspector.cli.composition import make_workbench, open_leftovers, open_memory, read_configuration
from inspector.cli.consent import TerminalApprover, require_consent
from inspector.cli.leftover import ask_about_leftovers
from inspector.cli.options import Options
from inspector.cli.problem import say_failures, say_problems
from inspector.cli.run import run
from inspector.domain.configuration import Configuration
from inspector.domain.server import ServerPhase
from inspector.engine.workbench import Workbench


@asynccontextmanager
async def headless(
    options: Options,
    configuration: Configuration | None = None,
    *,
    record: bool = False,
    listing: bool = False,
    tell_problems: bool = True,
) -> AsyncIterator[Workbench]:
    """A workbench with every server ready or failed, and a complete index; see `make_workbench`.

    With `tell_problems`, servers that failed and the problems of the settings are printed on stderr.
    """
    configuration = configuration or read_configuration(options)
    memory = open_memory(options)
    require_consent(configuration, memory, approve=options.approve)
    ask_about_leftovers(open_leftovers(options))
    approver = TerminalApprover(yes=options.yes)
    making = make_workbench(configuration, options, approver, memory, record=record, listing=listing)
    async with making as bench:
        bench.connect()
        await bench.wait_connected()
        await bench.retrieval.settled()
        if tell_problems:
            say_failures(bench.state.servers.values())
            say_problems(bench.state.problems)
        yield bench


def run_headless(
    options: Options,
    work: Callable[[Workbench], Awaitable[None]],
    *,
    record: bool = False,
    listing: bool = False,
    tell_problems: bool = True,
) -> bool:
    """Connect, do the work, close; see `headless`. `listing` is for work that searches for nothing.

    Returns whether no server failed.
    """

    async def worked() -> bool:
        opening = headless(options, record=record, listing=listing, tell_problems=tell_problems)
        async with opening as bench:
            await work(bench)
            return all(server.phase is not ServerPhase.FAILED for server in bench.state.servers.values())

    return run(worked())
