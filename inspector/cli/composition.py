"""Chooses the parts of a session (servers, stores, models); nothing else does.

What only some commands need is imported where it is used.
"""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import platformdirs

from inspector.cli.configuration import policy_of, stored_tools
from inspector.cli.consent import TerminalElicitor
from inspector.cli.location import APP, database_path, given_inputs
from inspector.cli.options import Options
from inspector.cli.stores import open_store
from inspector.config.configuration import Configuration
from inspector.config.server_change import ConfigurationEditor
from inspector.core.error import ModelError
from inspector.core.ports import (
    Approver,
    ChatModel,
    Clock,
    ServerMemory,
    SystemClock,
    TokenCounter,
)
from inspector.core.text import closest
from inspector.features.feature_list import FEATURES
from inspector.loop.breaker import BreakerStore, SqliteBreakers
from inspector.loop.model.local import LocalModelServers
from inspector.mcp.client.connector import McpConnector
from inspector.mcp.elicitation import Relay
from inspector.mcp.port import Connector, Elicitor, Heard
from inspector.mcp.reaper import Reaper
from inspector.mcp.recorded_link import WithStoredListings
from inspector.mcp.sign_in.kept import SignIns, system_keychain
from inspector.mcp.sign_in.person import SignInWay
from inspector.schema.schema import PLAIN, ModelFeatures
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.store.call_history import RecordedCalls
from inspector.store.server_memory import SqliteServerMemory, SqliteVectors
from inspector.store.store import MemoryStore, SqliteStore
from inspector.tokens.accounting import LitellmPrices
from inspector.tokens.counter import AnthropicCounter, RememberedLengths, TiktokenCounter, is_claude

if TYPE_CHECKING:
    from inspector.access.reach import EvalCase
    from inspector.search.index.semantics import Embedder, StaticEmbedder


PLANNER = "demo/planner"
_SCRIPT = "demo/script:"
_OLLAMA, _OLLAMA_ADDRESS = "ollama/", "http://127.0.0.1:11434"
_EXAMPLES = "openai/gpt-5, anthropic/claude-sonnet-4-5, ollama/qwen3, demo/planner"


def open_memory(options: Options) -> SqliteServerMemory:
    return SqliteServerMemory(database_path(options))


def open_breakers(options: Options) -> SqliteBreakers:
    return SqliteBreakers(database_path(options))


def open_vectors(options: Options) -> SqliteVectors:
    return SqliteVectors(database_path(options))


@cache
def make_embedder(name: str) -> "Embedder | None":
    """The embedder for `packaged`, `none` or any fastembed model. Its model is loaded once, on first use."""
    if name == "none":
        return None
    from inspector.search.index.named_model import NamedEmbedder
    from inspector.search.index.packaged_model import FastembedEmbedder

    folder = platformdirs.user_cache_path(APP) / "models"
    return FastembedEmbedder(folder) if name == "packaged" else NamedEmbedder(name, folder)


@cache
def make_static_embedder() -> "StaticEmbedder | None":
    """The table of static vectors, read on first use; None where its package is missing."""
    from inspector.search.index.packaged_model import WordLlamaEmbedder

    return WordLlamaEmbedder.packaged()


def make_connector(options: Options) -> Connector:
    """A connector to MCP servers and stored listings; stderr goes to the user's log folder."""
    return _with_what_is_stored(mcp_connector(options), options)


def _with_what_is_stored(servers: Connector, options: Options) -> Connector:
    """The connector, with stored listings and, where that is the source, stored tools."""
    connector = WithStoredListings(servers)
    return stored_tools(options).connector(connector) if options.registry else connector


def mcp_connector(options: Options, **more: Any) -> McpConnector:
    """What connects to servers, and signs in to them."""
    way = SignInWay(open_sign_ins(options), is_stored_only=options.stored_auth_only)
    logs = platformdirs.user_log_path(APP)
    return McpConnector(logs, reaper=_reaper(), way=way, tries_older=True, **more)


def open_sign_ins(options: Options) -> SignIns:
    """The sign-ins to servers: in the system's keychain, or in a file beside the database."""
    return SignIns(database_path(options).parent / "sign-ins.json", system_keychain)


@cache
def _reaper() -> Reaper:
    """The one reaper of this process, however many sessions are opened."""
    return Reaper()


def make_workbench(
    configuration: Configuration,
    options: Options,
    approver: Approver,
    memory: ServerMemory,
    *,
    elicitor: Elicitor | None = None,
    heard: Heard | None = None,
    relay: Relay | None = None,
    servers: McpConnector | None = None,
    connector: Connector | None = None,
    clock: Clock | None = None,
    breakers: BreakerStore | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    record: bool = True,
    listing: bool = False,
    learns: bool = True,
) -> Workbench:
    """A workbench with the real adapters, except those that are given; servers' questions go to the terminal.

    Without `record` nothing is left of the session: it only reads. A `listing`, which does not search, loads
    no embedding model, and no encoding for known texts. Unless it `learns`, earlier sessions decide nothing.
    """
    servers = servers or mcp_connector(options)
    ports = Ports(
        connector=connector or _with_what_is_stored(servers, options),
        wire=servers if connector is None else None,
        sign_ins=servers if connector is None else None,
        store=open_store(options) if record else MemoryStore(),
        memory=memory,
        clock=clock or SystemClock(),
        approver=approver,
        elicitor=elicitor or TerminalElicitor(),
        heard=heard,
        relay=relay,
        model_for=lambda name: chosen_model(name, options),
        counter_for=counter_for if not listing else lambda name: remembered_counter(name, options),
        embedder_for=make_embedder if not listing else lambda _name: None,
        static=make_static_embedder(),
        vectors=open_vectors(options),
        prices=LitellmPrices(),
        local_models=LocalModelServers(),
        history=RecordedCalls(SqliteStore(database_path(options))) if learns else None,
        stored_tools=stored_tools(options),
        editor=ConfigurationEditor(os.environ, given_inputs(options)),
        breakers=breakers or open_breakers(options),
        sleep=sleep,
    )
    policy = policy_of(configuration, options)
    return Workbench(
        configuration,
        _composed(options, ports),
        model=options.model,
        toolset=options.toolset,
        session_id=new_session_id(),
        cases=_cases(policy.settings.discovery.evaluation),
        profile=options.profile,
        values=policy.session_values,
        trusted=options.trust,
    )


def _composed(options: Options, ports: Ports) -> Ports:
    """The ports with those of the features."""
    for feature in FEATURES:
        if feature.compose:
            ports = feature.made(feature.compose)(options, ports)
    return ports


def lent(name: str) -> Any:
    """What a feature lends under this name, imported now: features do not import each other."""
    return next(one.made(one.lends[name]) for one in FEATURES if name in one.lends)


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
    from inspector.search.answer.evalset import read_cases

    return [case for file in files for case in read_cases(Path(file))]


def model_for(name: str, *, api_base: str = "", window: int | None = None) -> ChatModel:
    """The model with that name: any litellm model or a `demo/…` model. Raises ModelError.

    `window` is its context window in tokens if not the known one; `api_base` is for models of litellm.
    """
    if name.startswith("demo/") or not name.strip():
        makers = (one.made(one.models) for one in FEATURES if one.models)
        model = next(filter(None, (make(name, window) for make in makers)), None)
        if model is not None:
            return cast("ChatModel", model)
        near = ", ".join(closest(name, [PLANNER, f"{_SCRIPT}FILE"])) or PLANNER
        raise ModelError(f"there is no model '{name}'", hint=f"Did you mean {near}? Others: {_EXAMPLES}.")
    from inspector.loop.model.litellm import LitellmModel

    return LitellmModel(name, api_base=api_base, window=window)


def chosen_model(name: str, options: Options) -> ChatModel:
    """The model with that name, with the address and the window that were given for it. Raises ModelError.

    A window is given for the model of `--model`, an address also for others of its provider. Another
    provider's model is at that provider's own address: its key has no business elsewhere. Ollama is asked for
    a window that was not given.
    """
    given_for = options.model.partition("/")[0]
    api_base = options.api_base if given_for in ("demo", name.partition("/")[0]) else ""
    window = options.window if name == options.model else None
    if window is None and name.startswith(_OLLAMA):
        at = (api_base or os.environ.get("OLLAMA_API_BASE") or _OLLAMA_ADDRESS).rstrip("/")
        asked = LocalModelServers().ollama_window(name.removeprefix(_OLLAMA), at)
        # The caller may be in an event loop, and cannot wait in it.
        with ThreadPoolExecutor(1) as pool:
            window = pool.submit(asyncio.run, asked).result()
    return model_for(name, api_base=api_base, window=window)


def counter_for(name: str) -> TokenCounter:
    """The token counter for the model with that name."""
    return AnthropicCounter(name) if is_claude(name) else TiktokenCounter(name)


def bulk_counter_for(name: str) -> TokenCounter:
    """A counter for megabytes of text: for Claude an estimate too, and four times as fast."""
    return TiktokenCounter(name)


def features_for(name: str) -> ModelFeatures:
    """What the provider of the model with that name takes, without making the model."""
    if name.startswith("demo/"):
        return PLAIN
    from inspector.loop.model.litellm import features_of

    return features_of(name)
