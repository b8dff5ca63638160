"""An MCP server: how to start it, the state of its connection, and what it reports about itself."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from inspector.domain.jsonvalue import canonical


class Era(StrEnum):
    """How a connection opens: the handshake up to 2025-11-25, or the stateless protocol of 2026-07-28."""

    LEGACY = "legacy"
    MODERN = "2026-07-28"
    AUTO = "auto"


@dataclass(frozen=True, slots=True)
class Program:
    """The files that a command comes down to, with absolute paths. All are "" if no file was found.

    `file` is what is started, `target` where its links end, if it is or lies behind one. `interpreter` runs
    it, if it is a script; a name without a slash was not found.
    """

    file: str = ""
    target: str = ""
    interpreter: str = ""


@dataclass(frozen=True, slots=True)
class Expansion:
    """A text of a configuration that contains values from a person's own environment.

    `key` is its place in the server's entry: `env.TOKEN`, `headers.X-Key`, `args[0]`. `own` names the
    variables, and never holds their values; an input that the person gave is `input ID`. `shown` is the
    expanded text, in which variables whose names look like secrets stay as they were written.
    """

    key: str
    own: tuple[str, ...]
    shown: str


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How to reach one server: a `command` (stdio), a `url` (streamable HTTP) or a `listing`, one of them.

    A `listing` is a file with a stored answer to `tools/list`. With `inherits_environment` a command gets all
    variables of Toolsight's own process. `lacks` names a value that the configuration needs and nobody set,
    `advice` says how to set it; such a server is not started. With a `program`, exactly that may be started;
    without one, whatever the command finds. `expansions` are the texts with values of a person's own. With
    `trust_annotations`, tools that the server says only read are called without asking. `client` holds what
    is declared to this server alone: values of the settings `client` by name.
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
    program: Program | None = None
    expansions: tuple[Expansion, ...] = ()
    client: Mapping[str, Any] = field(default_factory=dict)
    concealed: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_http(self) -> bool:
        return bool(self.url)

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.command, *self.args)

    @property
    def shown_argv(self) -> tuple[str, ...]:
        """The command line, in which the person's own variables stay as written if they look like secrets."""
        shown = {each.key: each.shown for each in self.expansions}
        args = (shown.get(f"args[{index}]", arg) for index, arg in enumerate(self.args))
        return (shown.get("command", self.command), *args)

    @property
    def shown_url(self) -> str:
        """The address, as `shown_argv`."""
        return next((each.shown for each in self.expansions if each.key == "url"), self.url)

    @property
    def secrets(self) -> dict[str, str]:
        """What the configuration passes to it, which may be secret, by names that begin with its own."""
        given = {f"{self.name}.{name}": value for name, value in (*self.env.items(), *self.headers.items())}
        # The last part of the name says that any text counts, also a plain word.
        return given | {f"{self.name}.{name}.secret": value for name, value in self.concealed.items()}

    def fingerprint(self) -> str:
        """A hash of everything that the configuration says of what runs: what is remembered is tied to it."""
        parts = [self.argv, self.cwd, self.url, sorted(self.env.items()), sorted(self.headers.items())]
        parts += [each for each in (self.listing, self.lacks) if each]
        return hashlib.sha256(canonical(parts).encode()).hexdigest()

    def consent_fingerprint(self) -> str:
        """The hash a consent is tied to: `fingerprint`, the files found, and the own variables handed over.

        Files count by their paths, links followed, and not by their content. An upgrade of `node` in its
        place asks nothing, as no person could judge it; one that moves it, or a file that is found before it,
        asks again. A project's scripts change with every edit, and most are arguments that cannot be told
        from others: a digest of the command alone would promise more than it keeps.
        """
        if self.program is None and not self.expansions:
            return self.fingerprint()
        found = self.program
        files = [found.file, found.target, found.interpreter] if found is not None else []
        own = sorted((each.key, each.own) for each in self.expansions)
        return hashlib.sha256(canonical([self.fingerprint(), files, own]).encode()).hexdigest()


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
    """A tool, or a page of tools, that the server lists but that cannot be used, and why."""

    name: str
    reason: str
