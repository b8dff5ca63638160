"""What an audit finds: frozen numbers, from the single tool up to everything on the machine.

Tokens are those of the compact `tools` array that static binding sends with every model call. A turn is a
model call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.domain.budget import Budget, Tokenizer, ToolCost
from inspector.domain.configuration import Configuration
from inspector.domain.price import Prices
from inspector.domain.settings import Settings
from inspector.domain.tool import Tool
from inspector.domain.toolset import permitted
from inspector.engine.tokens.audit.reading import Reading

TURNS = 1000
"""Turns that the money is told for."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What recorded sessions of a configuration called: how many sessions there are, calls by tool id."""

    sessions: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """A configuration to audit. `readings` go by the name that the server has there (`Reading.named`).

    `settings` shape the manifest that discovery would send; `toolset` is one of the configuration, or "".
    """

    client: str
    scope: str
    configuration: Configuration
    readings: Mapping[str, Reading]
    settings: Settings = Settings()
    toolset: str = ""
    usage: Usage = Usage()

    @property
    def connected(self) -> tuple[Tool, ...]:
        """The tools of the measured servers."""
        return tuple(tool for reading in self.readings.values() for tool in reading.tools or ())

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Those of them that the toolset permits. Raises ConfigError for a toolset that there is not."""
        return permitted(self.connected, self.configuration.toolset(self.toolset))

    @property
    def summaries(self) -> dict[str, str]:
        """What the servers say of themselves."""
        return {name: reading.summary for name, reading in self.readings.items()}


@dataclass(frozen=True, slots=True)
class Bill:
    """US dollars of `TURNS` turns: in full, and with a prompt cache (None where the provider has none)."""

    uncached: float
    cached: float | None = None


@dataclass(frozen=True, slots=True)
class ToolAudit:
    """One tool."""

    id: str
    cost: ToolCost


@dataclass(frozen=True, slots=True)
class ServerAudit:
    """One server. Where it was not measured `tokens` are 0 and the reading says why."""

    name: str
    reading: Reading
    tools: tuple[ToolAudit, ...] = ()
    tokens: int = 0
    share: float = 0.0

    @property
    def estimate(self) -> int:
        """Characters / 4, tool by tool."""
        return sum(tool.cost.estimate for tool in self.tools)

    @property
    def error(self) -> float:
        """How far the estimate is from the count: -0.1 is ten percent too few."""
        return relative_error(self.estimate, self.tokens)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What to change. `tokens` are those of a turn: saved at most, or for `keep` what there is to save."""

    kind: str
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class ConfigurationAudit:
    """One configuration. `discovery` are the tool tokens of a first call with every server deferred.

    The bills are None where no price is known.
    """

    client: str
    scope: str
    source: str
    servers: tuple[ServerAudit, ...]
    tokens: int
    share: float
    discovery: int
    bill: Bill | None = None
    discovery_bill: Bill | None = None
    suggestions: tuple[Suggestion, ...] = ()

    @property
    def tools(self) -> tuple[ToolAudit, ...]:
        return tuple(tool for server in self.servers for tool in server.tools)

    @property
    def estimate(self) -> int:
        return sum(server.estimate for server in self.servers)

    @property
    def error(self) -> float:
        return relative_error(self.estimate, self.tokens)

    @property
    def saved(self) -> int:
        """Tokens a turn that discovery saves before anything is found; negative where it costs more."""
        return self.tokens - self.discovery

    @property
    def saved_fraction(self) -> float:
        return self.saved / self.tokens if self.tokens else 0.0

    @property
    def measured(self) -> tuple[ServerAudit, ...]:
        return tuple(server for server in self.servers if server.reading.is_measured)


@dataclass(frozen=True, slots=True)
class Basis:
    """What all numbers of an audit rest on; `prices` are those of another model where `model` has none."""

    model: str
    tokenizer: Tokenizer
    window: int
    prices: Prices | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A file, or a part of one, that cannot be audited."""

    client: str
    scope: str
    source: str
    error: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything that was looked at. `empty` are files in which a client has no servers.

    `first_call` is what the first model call of the only measured configuration costs, as it is set up.
    """

    basis: Basis
    configurations: tuple[ConfigurationAudit, ...]
    problems: tuple[Problem, ...] = ()
    empty: tuple[str, ...] = ()
    first_call: Budget | None = None


def relative_error(estimate: int, tokens: int) -> float:
    return estimate / tokens - 1 if tokens else 0.0
