"""`toolsight audit`: finds what every MCP client on this machine starts, asks, measures and counts."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.cli import composition, location
from inspector.cli.composition import chosen_model, counter_for
from inspector.cli.configuration import read_configuration
from inspector.cli.consent import require_consent
from inspector.cli.options import COMMON, Options, as_json, require_nobody, session_command
from inspector.cli.run import Exit, run
from inspector.cli.stores import open_store
from inspector.cli.table import Progress, say, show
from inspector.config.client import (
    ClientConfiguration,
    ClientFile,
    Unreadable,
    client_file_of,
    client_files,
    is_there,
    read_client_file,
)
from inspector.config.configuration import Configuration
from inspector.core.error import ConfigError
from inspector.core.events import CallStarted
from inspector.core.feature import Given
from inspector.core.ports import ChatModel, EventStore, ServerMemory, SystemClock
from inspector.core.stream import LiveModel
from inspector.features.cost.audit.audit import Pricing, configuration_audit
from inspector.features.cost.audit.facts import audit_json, audit_report
from inspector.features.cost.audit.result import (
    NOT_APPROVED,
    Audit,
    Basis,
    Problem,
    Reading,
    Subject,
    Usage,
    ask_servers,
    stored,
    unreadable,
)
from inspector.features.cost.command import Assumed, assumed, assuming
from inspector.features.cost.feature import AUDIT
from inspector.loop.settings_check import Policy
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import Accounting, LitellmPrices
from inspector.tokens.plan import Assumptions


class _Found(Struct, frozen=True):
    """The configurations on this machine; `empty` are files in which a client has no servers."""

    configurations: tuple[ClientConfiguration, ...]
    unreadable: tuple[Unreadable, ...]
    empty: tuple[str, ...]


@session_command(takes=COMMON)
@assuming
@as_json
def audit(assume: dict[str, Any], chosen: Options) -> None:
    """Measure the servers of every MCP client on this machine.

    Reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI and
    Toolsight, or --config, and changes none of them. A server starts only with your consent, and only once
    even if several clients use it. Without consent, Toolsight measures the tools from the last connection,
    if there was one. Costs cover a whole session with its searches, as in `toolsight cost`. The exit code
    is 1 if every server failed.

    \b
    toolsight audit --config .mcp.json
    """
    require_nobody(chosen)
    terms = assumed(assume, chosen)
    found = run_audit(chosen, terms)
    show(audit_json(found), audit_report(found))
    readings = [server.reading for one in found.configurations for server in one.servers]
    if readings and not any(one.is_measured or one.reason == NOT_APPROVED for one in readings):
        sys.exit(Exit.FAILED)


def run_audit(options: Options, assumed: Assumed) -> Audit:
    """Audit every configuration on this machine, or the one of `--config`. Raises ToolsightError."""
    found = _find(options)
    if not any(options.toolset in ("", *one.configuration.toolsets) for one in found.configurations):
        found.configurations[0].configuration.toolset(options.toolset)
    with closing(composition.open_memory(options)) as memory:
        readings = _readings(found.configurations, memory, options)
    return _audited(found, readings, options, assumed)


def audit_machine(options: Options) -> Audit:
    """Audit every configuration on this machine by what its servers had last: nothing is asked or started."""
    options = replace(options, config=None, server=(), demo=False, toolset="")
    found = _on_machine(options, _candidates())
    specs = [spec for one in found.configurations for spec in one.configuration.servers]
    with closing(composition.open_memory(options)) as memory:
        readings = {spec.fingerprint(): stored(spec, memory) for spec in specs}
    return _audited(found, readings, options, Assumed(Assumptions(), ()))


def _audited(found: _Found, readings: Mapping[str, Reading], options: Options, assumed: Assumed) -> Audit:
    model = chosen_model(options.model, options)
    with closing(open_store(options)) as store:
        subjects = [_subject(one, readings, options, store) for one in found.configurations]
    accounting = _accounting(model, options, subjects)
    prices = accounting.prices()
    terms = assumed.terms(prices, options.model, model.features)
    pricing = Pricing(prices, terms, assumed.assumptions, judges=True)
    audited = tuple(configuration_audit(subject, accounting.meter, pricing) for subject in subjects)
    return Audit(
        Basis(
            options.model, accounting.meter.tokenizer, accounting.meter.window, prices, pricing.assumed, terms
        ),
        audited,
        tuple(
            Problem(one.client, one.scope, str(one.path), one.error.message, one.error.hint)
            for one in found.unreadable
        ),
        found.empty,
    )


def _find(options: Options) -> _Found:
    if options.server or options.demo:
        typed = read_configuration(options).unrestricted
        return _Found((ClientConfiguration("command line", "", typed),), (), ())
    candidates = _candidates()
    found = _on_machine(options, candidates)
    if not found.configurations:
        _refuse(options, candidates, found)
    return found


def _candidates() -> Sequence[ClientFile]:
    """Where clients keep their files, whether there are any or not."""
    return client_files(Path.home(), Path.cwd(), sys.platform, os.environ)


def _on_machine(options: Options, candidates: Sequence[ClientFile]) -> _Found:
    """Read the files of every client, or the one of `--config`."""
    there = [file for file in candidates if is_there(file)]
    if options.config is not None:
        there = [client_file_of(options.config, candidates)]
    inputs = location.given_inputs(options)
    read = {file: read_client_file(file, environment=os.environ, inputs=inputs) for file in there}
    parts = tuple(chain.from_iterable(read.values()))
    return _Found(
        tuple(part for part in parts if isinstance(part, ClientConfiguration)),
        tuple(part for part in parts if isinstance(part, Unreadable)),
        tuple(str(file.path) for file, inside in read.items() if not inside),
    )


def _refuse(options: Options, candidates: Sequence[ClientFile], found: _Found) -> None:
    """Raise ConfigError for an empty audit: say what is wrong, or where Toolsight looked."""
    if options.config is not None:
        if found.unreadable:
            raise found.unreadable[0].error
        raise ConfigError(f"{options.config} has no servers", hint="Servers go in `mcpServers`.")
    for broken in found.unreadable:
        say(f"not read: {broken.error.message}", err=True)
    looked = "".join(f"\n  {file.client}: {file.path}" for file in candidates)
    hint = f"Pass a file with --config, or try `toolsight demo`. Looked for:{looked}"
    raise ConfigError("no MCP client on this machine has a server to audit", hint=hint)


def _readings(
    configurations: Sequence[ClientConfiguration], memory: ServerMemory, options: Options
) -> dict[str, Reading]:
    """Each server's reading by fingerprint: from the server with consent, else from its snapshot."""
    specs = [spec for one in configurations for spec in one.configuration.servers]
    allowed = [
        spec
        for one in configurations
        if _is_allowed(one, memory, approve=options.approve)
        for spec in one.configuration.servers
        if not spec.lacks
    ]
    readings: dict[str, Reading] = {}
    if allowed:
        connector = composition.make_connector(options)
        with Progress() as progress:
            tell = partial(progress, "asking servers for their tools")
            readings = run(ask_servers(allowed, connector, memory, SystemClock(), tell))
    waiting = {spec.fingerprint(): spec for spec in specs if spec.fingerprint() not in readings}
    return readings | {fingerprint: stored(spec, memory) for fingerprint, spec in waiting.items()}


def _is_allowed(one: ClientConfiguration, memory: ServerMemory, *, approve: bool) -> bool:
    """Whether a person consents to starting the file's servers; asks if there is a terminal."""
    if all(spec.lacks for spec in one.configuration.servers):
        return False
    name = (
        f"{one.configuration.source} ({one.client}, {one.scope})" if one.scope else one.configuration.source
    )
    try:
        require_consent(replace(one.configuration, source=name), memory, approve=approve)
    except ConfigError:
        return False
    return True


def _subject(
    one: ClientConfiguration, readings: Mapping[str, Reading], options: Options, store: EventStore
) -> Subject:
    configuration = one.configuration
    known = {
        spec.name: readings[spec.fingerprint()].named(spec.name).within(spec.rule)
        for spec in configuration.servers
    }
    return Subject(
        client=one.client,
        scope=one.scope,
        configuration=configuration,
        readings=known | {name: unreadable(fault) for name, fault in one.faults.items()},
        settings=Policy(configuration, profile=options.profile, values=options.values).settings,
        toolset=options.toolset if options.toolset in configuration.toolsets else "",
        usage=_usage(configuration.source, store),
    )


def _usage(source: str, store: EventStore) -> Usage:
    """The tool calls in a file's recorded sessions; sessions without calls are not counted."""
    calls: dict[str, int] = {}
    sessions = 0
    for session in store.sessions():
        if session.calls and Path(session.config).absolute() == Path(source).absolute():
            sessions += 1
            for record in store.read(session.id, kinds=(CallStarted.kind,)):
                if isinstance(record.event, CallStarted):
                    calls[record.event.tool] = calls.get(record.event.tool, 0) + 1
    return Usage(sessions, calls)


def _accounting(model: ChatModel, options: Options, subjects: Sequence[Subject]) -> Accounting:
    """The accounting. A single configuration's settings decide the prices for a model that has none."""
    common = Policy(Configuration("", ()), profile=options.profile, values=options.values).settings
    settings = subjects[0].settings if len(subjects) == 1 else common
    return Accounting(counter_for, LitellmPrices(), LiveModel(settings, model))


def provide(options: Options, _bench: Workbench) -> Given:
    """What reads the other configurations on this machine, in a thread."""

    return {AUDIT: partial(audit_machine, options)}
