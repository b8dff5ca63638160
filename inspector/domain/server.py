"""An MCP server: how to start it, the state of its connection, and what it reports about itself."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from inspector.domain.jsonvalue import canonical


class Era(StrEnum):
    """How a connection opens: the handshake up to 2025-11-25, or the stateless protocol of 2026-07-28."""

    LEGACY = "legacy"
    MODERN = "2026-07-28"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How to reach one server: a `command` (stdio), a `url` (streamable HTTP) or a `listing`, one of them.

    A `listing` is a file with a stored answer to `tools/list`. With `inherits_environment` a command gets all
    variables of Toolsight's own process. `lacks` names a value that the configuration needs and nobody set,
    `advice` says how to set it; such a server is not started. With `trust_annotations`, tools that the
    server says only read are called without asking.
    """

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    listing: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    inherits_environment: bool = False
    lacks: str = ""
    advice: str = ""
    defer_loading: bool = False
    tags: tuple[str, ...] = ()
    era: Era | None = None
    trust_annotations: bool = False
    connect_timeout: float = 30.0
    call_timeout: float = 60.0

    @property
    def is_http(self) -> bool:
        return bool(self.url)

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.command, *self.args)

    def fingerprint(self) -> str:
        """A hash of everything that decides what runs; consent covers exactly this."""
        parts = [self.argv, self.cwd, self.url, sorted(self.env.items()), sorted(self.headers.items())]
        parts += [each for each in (self.listing, self.lacks) if each]
        return hashlib.sha256(canonical(parts).encode()).hexdigest()


class ServerPhase(StrEnum):
    """The state of a connection."""

    CONNECTING = "connecting"
    READY = "ready"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What a server reported about itself when it connected.

    `summary` is one line of it, for lists; `instructions` are the whole text that it has for a model;
    `capabilities` are those that it declares, each with what it adds to it in parentheses.
    """

    name: str = ""
    version: str = ""
    protocol: str = ""
    era: Era = Era.LEGACY
    summary: str = ""
    instructions: str = ""
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkippedTool:
    """A tool that the server lists but that cannot be used, and why."""

    name: str
    reason: str
