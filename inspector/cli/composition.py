"""Chooses the parts of a session (servers, stores, models); nothing else does.

What only some commands need is imported where it is used.
"""

import asyncio
import os
import secrets
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from inspector.access.restriction import OpenedConfiguration
from inspector.cli.chosen import policy_of, with_chosen
from inspector.cli.demo_folder import demo_folder
from inspector.cli.elicitation import TerminalElicitor
from inspector.cli.models import chosen_model, counter_for
from inspector.cli.options import Options
from inspector.cli.run import FOUND_IN_FOLDER
from inspector.config.configuration import Configuration
from inspector.config.file import is_file
from inspector.config.predicate import load_predicates
from inspector.config.reader import read
from inspector.config.typed_server import typed_configuration
from inspector.core.closest import did_you_mean
from inspector.core.error import ConfigError
from inspector.core.ports import Approver, Clock, Leftovers, LocalModels, PriceList, SystemClock, TokenCounter
from inspector.core.store_ports import EventStore, ServerMemory
from inspector.loop.model.local import LocalModelServers
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.port import Connector, Elicitor
from inspector.mcp.process.registry import ProcessLeftovers, ProcessRegistry, records_folder
from inspector.mcp.tool_file import WithStoredListings
from inspector.registry.library import servers_for
from inspector.reliability.breaker_store import SqliteBreakers
from inspector.reliability.breaking import BreakerStore
from inspector.search.ports import Embedder, StaticEmbedder
from inspector.search.sqlite import SqliteServerMemory, SqliteVectors
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.call_history import SqliteCallHistory
from inspector.store.store import SqliteStore
from inspector.tokens.counter import RememberedLengths
from inspector.tokens.prices import LitellmPrices

if TYPE_CHECKING:
    from inspector.access.reach import EvalCase
    from inspector.core.access import AccessPolicy
    from inspector.search.inertia_graph import InertiaGraph
    from inspector.search.ports import ToolRegistry
from inspector.cli.location import (
    APP,
    configuration_path,
    database_path,
    demo_path,
    fixtures_path,
    given_inputs,
)


def open_store(options: Options) -> SqliteStore:
    return SqliteStore(database_path(options))


def open_memory(options: Options) -> SqliteServerMemory:
    return SqliteServerMemory(database_path(options))


def open_breakers(options: Options) -> SqliteBreakers:
    return SqliteBreakers(database_path(options))


def open_vectors(options: Options) -> SqliteVectors:
    return SqliteVectors(database_path(options))


@cache
def make_embedder(name: str) -> Embedder | None:
    """The embedder for `packaged`, `none` or any fastembed model. Its model is loaded once, on first use."""
    if name == "none":
        return None
    from inspector.search.named_model import NamedEmbedder
    from inspector.search.packaged_model import FastembedEmbedder

    folder = platformdirs.user_cache_path(APP) / "models"
    return FastembedEmbedder(folder) if name == "packaged" else NamedEmbedder(name, folder)


@cache
def make_static_embedder() -> StaticEmbedder | None:
    """The table of static vectors, read on first use; None where its package is missing."""
    from inspector.search.packaged_model import WordLlamaEmbedder

    return WordLlamaEmbedder.packaged()


def read_configuration(options: Options, *, may_be_empty: bool = False) -> OpenedConfiguration:
    """The server that was typed, or the configuration file, as the person who is named sees it.

    Without a server the file is an error, unless it `may_be_empty`.
    Raises ConfigError, also if there is neither, or if it lacks a server that `--trust` names.
    """
    whole = with_chosen(_read(options, may_be_empty), options, own=fixtures_path())
    chosen = policy_of(whole, options).settings.access
    opened = OpenedConfiguration.under(
        chosen,
        whole,
        lambda path: load_policy(Path(path)),
        lambda sight: servers_for(sight, whole, partial(_opened_registry, options)),
    )
    known = [spec.name for spec in opened.seen.servers]
    for name in options.trust:
        if name not in known:
            raise ConfigError(f"--trust {name}: no such server", hint=did_you_mean("Servers", name, known))
    return opened


def _opened_registry(options: Options) -> "ToolRegistry":
    from inspector.cli.registry.opening import open_registry

    return open_registry(options)


def _read(options: Options, may_be_empty: bool) -> Configuration:
    if options.demo:
        return demo_configuration(demo_folder())
    if options.registry:
        from inspector.cli.registry.opening import stored_configuration

        return stored_configuration(options)
    if options.server:
        return typed_configuration(options.server, environment=os.environ, inputs=given_inputs(options))
    path = configuration_path(options)
    if path is None:
        raise ConfigError(
            "no server or configuration given, and this folder has no configuration",
            hint="Pass a server (`toolsight -- python server.py`) or a file (--config), or try "
            "`toolsight demo`. "
            f"Looked for: {', '.join(FOUND_IN_FOLDER)}.",
        )
    try:
        return read(path, environment=os.environ, inputs=given_inputs(options), may_be_empty=may_be_empty)
    except ConfigError as error:
        # What is wrong may be in a part that this person may not see, and it is not known yet who that is.
        if options.names_viewer and is_file(path):
            hint = "Run it without a policy, or as the administrator, to see what is wrong."
            raise ConfigError(f"{path} cannot be read", hint=hint) from error
        raise


def with_list_changes(demo: Configuration) -> Configuration:
    """The demo as the app shows it: one tool of its clock server comes and goes again."""
    schedule = {"TOOLSIGHT_CLOCK_ADD_AFTER": "20", "TOOLSIGHT_CLOCK_REMOVE_AFTER": "60"}
    servers = (
        replace(one, env={**one.env, **schedule}) if one.name == "clock" else one for one in demo.servers
    )
    return replace(demo, servers=tuple(servers))


def is_the_demo(configuration: Configuration) -> bool:
    """Whether the servers are the demo's, whose data are Toolsight's own."""
    return configuration.trusted and configuration.source == str(demo_path())


def demo_configuration(state: Path) -> Configuration:
    """The shipped demo servers, with their data in the folder `state`. Toolsight's own, so it is trusted."""
    fixtures = fixtures_path()
    variables: Mapping[str, str] = {
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(fixtures),
        "TOOLSIGHT_STATE": str(state),
    }
    configuration = read(demo_path(), environment=os.environ, variables=variables)
    return replace(
        configuration, trusted=True, servers=tuple(replace(spec, files=()) for spec in configuration.servers)
    )


def make_prices() -> PriceList:
    """Model prices, from the list that litellm ships."""
    return LitellmPrices()


def make_local_models() -> LocalModels:
    """The model servers on this machine, at their usual ports."""
    return LocalModelServers()


def make_connector(options: Options) -> Connector:
    """A connector to MCP servers and stored listings; stderr goes to the user's log folder."""
    return _with_what_is_stored(_mcp_connector(options), options)


def _with_what_is_stored(servers: Connector, options: Options) -> Connector:
    """The connector, with stored listings and, where that is the source, the registry."""
    connector = WithStoredListings(servers)
    if not options.registry:
        return connector
    from inspector.cli.registry.opening import with_registry

    return with_registry(connector, options)


def _mcp_connector(options: Options) -> McpConnector:
    registry = _registry(database_path(options))
    return McpConnector(platformdirs.user_log_path(APP), registry=registry)


@cache
def _registry(database: Path) -> ProcessRegistry:
    """The one registry of this process: it has one reaper, however many sessions are opened."""
    return ProcessRegistry(records_folder(database))


def load_seeds(path: Path) -> "dict[str, InertiaGraph]":
    """The transitions in a file, by persona. Raises ConfigError."""
    from inspector.reliability.inertia_seed import load_seeds as load

    return load(path)


def load_policy(path: Path) -> "AccessPolicy":
    """Who may see which tools, as a file says. Raises ConfigError."""
    from inspector.access.policy_file import load_policy as load

    return load(path)


def open_leftovers(options: Options) -> Leftovers:
    """The processes of earlier runs on the database."""
    return ProcessLeftovers(records_folder(database_path(options)))


def make_workbench(
    configuration: Configuration,
    options: Options,
    approver: Approver,
    memory: ServerMemory,
    *,
    elicitor: Elicitor | None = None,
    connector: Connector | None = None,
    clock: Clock | None = None,
    breakers: BreakerStore | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    record: bool = True,
    listing: bool = False,
) -> Workbench:
    """A workbench with the real adapters, except those that are given.

    Without an `elicitor` servers' questions are asked on the terminal.
    Without `record` nothing is left of the session: it only reads. For a `listing`, which does not search, no
    embedding model is loaded, and no encoding for texts that were counted before.
    """
    from inspector.cli.marketplace.ports import make_marketplace
    from inspector.cli.registry.opening import open_registry

    servers = _mcp_connector(options)
    ports = Ports(
        connector=connector or _with_what_is_stored(servers, options),
        wire=servers if connector is None else None,
        store=open_store(options) if record else _forgetful_store(),
        memory=memory,
        clock=clock or SystemClock(),
        approver=approver,
        elicitor=elicitor or TerminalElicitor(),
        model_for=lambda name: chosen_model(name, options),
        counter_for=counter_for if not listing else lambda name: remembered_counter(name, options),
        embedder_for=make_embedder if not listing else lambda _name: None,
        static=make_static_embedder(),
        vectors=open_vectors(options),
        prices=make_prices(),
        predicates_from=lambda path, expected: load_predicates(Path(path), expected),
        local_models=make_local_models(),
        history=SqliteCallHistory(database_path(options)),
        seeds_from=lambda path: load_seeds(Path(path)),
        registry=cache(partial(open_registry, options)),
        policy_from=lambda path: load_policy(Path(path)),
        breakers=breakers or open_breakers(options),
        sleep=sleep,
        marketplace=make_marketplace(options),
    )
    policy = policy_of(configuration, options)
    return Workbench(
        configuration,
        ports,
        model=options.model,
        toolset=options.toolset,
        session_id=new_session_id(),
        cases=_cases(policy.settings.discovery.evaluation),
        profile=options.profile,
        values=policy.session_values,
        trusted=options.trust,
    )


def _forgetful_store() -> EventStore:
    from inspector.store.memory import MemoryStore

    return MemoryStore()


def new_session_id() -> str:
    """A session id that sorts by time and is unique among processes that start in the same second."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


def remembered_counter(name: str, options: Options) -> TokenCounter:
    """A counter that knows the counts of earlier sessions."""
    return RememberedLengths(counter_for(name), database_path(options))


def _cases(files: Sequence[str]) -> "list[EvalCase]":
    """The labelled requests of the configuration's own files. Raises ConfigError."""
    if not files:
        return []
    from inspector.measure.evalset import read_cases

    return [case for file in files for case in read_cases(Path(file))]
