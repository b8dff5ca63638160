"""The sessions that scenarios play in: on the demo servers with fresh data, or on those that were named."""

import atexit
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache
from math import inf
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from msgspec import Struct
from msgspec.structs import replace

from inspector.cli.composition import make_connector, make_workbench, open_memory
from inspector.cli.configuration import demo_configuration, is_the_demo, read_configuration, with_chosen
from inspector.cli.consent import TerminalApprover, require_consent
from inspector.cli.launch import model_failure
from inspector.cli.location import fixtures_path, scenario_path, shipped_recording, shipped_scenarios
from inspector.cli.options import Options
from inspector.cli.run import run
from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.core.events import Failed, Record
from inspector.core.feature import Given
from inspector.core.ports import SystemClock
from inspector.core.stream import Listener
from inspector.features.lab.comparison import ScenarioResult
from inspector.features.lab.feature import LAB, RUNS
from inspector.features.lab.ground import Ground, ScenarioFile, require_tools
from inspector.features.lab.run import ChangingConnector, LabClock, ScenarioRun
from inspector.features.lab.runs.recording import RunSource
from inspector.features.lab.scenario import Scenario, load_scenario
from inspector.loop.approval import AllowedBefore
from inspector.loop.breaker import MemoryBreakers
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench


class OpenLab(Struct, frozen=True):
    """A connected workbench, and a scenario's run on it."""

    bench: Workbench
    run: ScenarioRun


@asynccontextmanager
async def open_lab(
    scenario: Scenario,
    options: Options,
    profile: str = "",
    *,
    tell: Listener | None = None,
    ground: Ground | None = None,
) -> AsyncIterator[OpenLab]:
    """Open a session for a scenario: on the demo servers with fresh data, or on those that were named.

    `profile` overrides `--profile`, which overrides the scenario's; `--set` overrides the scenario's
    settings. The model is that of the options. `tell` gets all records. On the demo servers calls that change
    something need no approval; on others they do, see `TerminalApprover`. A `ground` names the servers of a
    race instead, on which nobody is asked: see `AllowedBefore`. Raises ToolsightError.
    """
    chosen = profile or options.profile or scenario.profile
    options = replace(options, profile=chosen, implied={**options.implied, **scenario.settings})
    async with AsyncExitStack() as stack:
        own = ground.configuration if ground is not None else _named_configuration(options)
        memory = open_memory(options)
        is_demo = own is None or is_the_demo(own)
        if own is None or is_demo:
            state = stack.enter_context(tempfile.TemporaryDirectory(prefix="toolsight-lab-"))
            own = with_chosen(forked(demo_configuration(Path(state))), options, own=fixtures_path())
        require_consent(own, memory, approve=options.approve)
        configuration = replace(ground, configuration=own).configured(chosen) if ground is not None else own
        if ground is not None and ground.trusted is not None:
            options = replace(options, trust=())
        yes = options.yes or is_demo
        approver = (
            AllowedBefore(ground.allowed) if ground is not None and not yes else TerminalApprover(yes=yes)
        )
        most = 1.0 if options.model.startswith("demo/script") else inf
        connector, clock = ChangingConnector(make_connector(options)), LabClock(SystemClock(), most=most)
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
            # A script comes out the same, whatever was played before it.
            learns=ground is not None,
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


def forked(demo: Configuration) -> Configuration:
    """The demo with its servers forked: a lab starts all of them for each scenario."""
    servers = (replace(spec, args=forked_server(*spec.args)) for spec in demo.servers)
    return replace(demo, servers=tuple(servers))


def forked_server(script: str) -> tuple[str, ...]:
    """The arguments with which Python stands for a server that one process forks for all."""
    return "-S", "-E", str(_forking_script()), _forking(), script


def _forking_script() -> Path:
    return fixtures_path() / "servers" / "_forked.py"


@cache
def _forking() -> str:
    """The address of the process that forks; it ends with this one."""
    folder = tempfile.mkdtemp(prefix="toolsight-forks-")
    address = f"{folder}/socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        number = listener.fileno()
        command = [sys.executable, str(_forking_script()), str(number)]
        forking = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(number,))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    atexit.register(forking.communicate)
    return address


def _named_configuration(options: Options) -> Configuration | None:
    """The configuration that was named; None if it is the demo's."""
    is_named = options.config is not None or options.server
    return read_configuration(options).unrestricted if is_named else None


class NamedScenario(Struct, frozen=True):
    """A scenario, the name it was asked for by, and its file."""

    name: str
    path: Path
    scenario: Scenario

    @classmethod
    def find(cls, name: str) -> "NamedScenario":
        """Find a shipped scenario by name, or read any file. Raises ConfigError."""
        path = scenario_path(name)
        return cls(name, path, load_scenario(path))

    @property
    def script(self) -> str:
        """The name of the model that plays it."""
        return f"demo/script:{self.path}"


class Played(Struct, frozen=True):
    """A scenario's result, and the session that recorded it."""

    name: str
    session: str
    result: ScenarioResult


def play(chosen: NamedScenario, setup: Options, *, profile: str = "", tell: Listener | None = None) -> Played:
    """Play a scenario in its own session, on its own servers. Raises ToolsightError."""

    async def played() -> Played:
        async with open_lab(chosen.scenario, setup, profile, tell=tell) as lab:
            return Played(chosen.name, lab.bench.session_id, await lab.run.run())

    return run(played())


def names_model(context: click.Context) -> bool:
    """Whether the user named a model, even the default one."""
    return context.get_parameter_source("model") is not ParameterSource.DEFAULT


def require_answers(played: Sequence[Played]) -> None:
    """Raise ModelError if the model failed, so that no table hides it."""
    for one in played:
        failed = [record.event for record in one.result.records if isinstance(record.event, Failed)]
        if one.result.totals.outcome == "failed" and failed:
            raise model_failure(failed[-1], one.session)


class ShippedLab:
    """A `Lab`. It records sessions where the options say; the servers of `run` are always the demo's."""

    def __init__(self, options: Options) -> None:
        self._options = replace(
            options, config=None, server=(), demo=False, toolset="", profile="", values={}
        )

    def scenarios(self) -> Sequence[ScenarioFile]:
        """See `Lab`; a file that cannot be read has its problem instead."""
        return [_read(path) for path in shipped_scenarios()]

    async def run(
        self, file: ScenarioFile, profile: str, values: Mapping[str, Any], tell: Callable[[Record], None]
    ) -> ScenarioResult:
        """See `Lab`. The run is recorded as a session like any other."""
        if file.scenario is None:
            raise ConfigError(file.problem)
        options = replace(self._options, model=f"demo/script:{file.path}", values=values)
        async with open_lab(file.scenario, options, profile, tell=tell) as lab:
            return await lab.run.run()

    async def race(
        self,
        scenario: Scenario,
        ground: Ground,
        profile: str,
        values: Mapping[str, Any],
        tell: Callable[[Record], None],
    ) -> ScenarioResult:
        """See `Lab`. On the demo's servers every side has data of its own, so it may change them."""
        options = replace(
            self._options,
            model=ground.model,
            api_base=ground.api_base,
            window=ground.window or None,
            toolset=ground.toolset,
            values=values,
        )
        async with open_lab(scenario, options, profile, tell=tell, ground=ground) as lab:
            return await lab.run.run()


def _read(path: Path) -> ScenarioFile:
    try:
        return ScenarioFile(path, load_scenario(path))
    except ConfigError as error:
        return ScenarioFile(path, problem=error.message)


def provide(options: Options, _bench: Workbench) -> Given:
    """What plays scenarios and recorded runs."""

    def ports() -> Ports:
        from inspector.features.lab.runs.command import recorded_ports

        return recorded_ports(options)

    return {LAB: ShippedLab(options), RUNS: RunSource(shipped_recording(), ports)}
