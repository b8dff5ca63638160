"""Opens the session that a scenario plays in."""

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.cli.chosen import with_chosen
from inspector.cli.composition import (
    demo_configuration,
    is_the_demo,
    make_connector,
    make_workbench,
    open_memory,
    read_configuration,
)
from inspector.cli.consent import TerminalApprover, require_consent
from inspector.cli.location import fixtures_path
from inspector.cli.options import Options
from inspector.config.configuration import Configuration
from inspector.core.ports import SystemClock
from inspector.core.stream import Listener
from inspector.reliability.breaking import MemoryBreakers
from inspector.session.workbench import Workbench

if TYPE_CHECKING:
    from inspector.scenario.ground import Ground
    from inspector.scenario.run import ScenarioRun
    from inspector.scenario.scenario import Scenario


@dataclass(frozen=True, slots=True)
class OpenLab:
    """A connected workbench, and a scenario's run on it."""

    bench: Workbench
    run: "ScenarioRun"


@asynccontextmanager
async def open_lab(
    scenario: "Scenario",
    options: Options,
    profile: str = "",
    *,
    tell: Listener | None = None,
    ground: "Ground | None" = None,
) -> AsyncIterator[OpenLab]:
    """Open a session for a scenario: on the demo servers with fresh data, or on those that were named.

    `profile` overrides `--profile`, which overrides the scenario's; `--set` overrides the scenario's
    settings. The model is `options.model`. `tell` gets every record. On the demo servers, calls that change
    something need no approval; on others they do, see `TerminalApprover`. A `ground` names the servers of a
    race instead, on which nobody is asked: see `AllowedBefore`. Raises ToolsightError.
    """
    from inspector.scenario.ground import AllowedBefore, require_tools
    from inspector.scenario.run import ChangingConnector, LabClock, ScenarioRun

    chosen = profile or options.profile or scenario.profile
    options = replace(options, profile=chosen, implied={**options.implied, **scenario.settings})
    async with AsyncExitStack() as stack:
        own = ground.configuration if ground is not None else _named_configuration(options)
        memory = open_memory(options)
        is_demo = own is None or is_the_demo(own)
        if own is None or is_demo:
            state = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolsight-lab-"))
            own = with_chosen(demo_configuration(Path(state)), options, own=fixtures_path())
        require_consent(own, memory, approve=options.approve)
        configuration = replace(ground, configuration=own).configured(chosen) if ground is not None else own
        if ground is not None and ground.trusted is not None:
            options = replace(options, trust=())
        yes = options.yes or is_demo
        approver = (
            AllowedBefore(ground.allowed) if ground is not None and not yes else TerminalApprover(yes=yes)
        )
        connector, clock = ChangingConnector(make_connector(options)), LabClock(SystemClock())
        bench = make_workbench(
            configuration,
            options,
            approver,
            memory,
            connector=connector,
            clock=clock,
            # Its clock runs ahead: what it learns of servers is not for other sessions.
            breakers=MemoryBreakers(),
            sleep=clock.sleep,
        )
        await stack.enter_async_context(bench)
        if tell is not None:
            bench.subscribe(tell)
        bench.connect()
        await bench.wait_connected()
        if ground is not None:
            require_tools(bench.state)
        played = scenario.model_copy(update={"profile": chosen, "settings": bench.policy.session_values})
        yield OpenLab(bench, ScenarioRun(bench, played, clock, connector))


def _named_configuration(options: Options) -> Configuration | None:
    """The configuration that was named; None if it is the demo's."""
    is_named = options.config is not None or options.server
    return read_configuration(options).unrestricted if is_named else None
