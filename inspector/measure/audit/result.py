"""The result of an audit, from a single tool up to everything on the machine.

Tokens are counted on the compact `tools` array that static binding sends with every model call.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from inspector.core.budget import Budget, Tokenizer, ToolCost
from inspector.core.configuration import Configuration
from inspector.core.price import Prices
from inspector.core.prompt_cache import UNCACHED, CacheTerms
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.core.toolset import permitted
from inspector.measure.audit.reading import Reading
from inspector.session.setup.change import Setup
from inspector.session.setup.priced_session import PricedSession
from inspector.session.verdict import Verdict, verdict
from inspector.tokens.cost.plan import Assumptions


@dataclass(frozen=True, slots=True)
class Usage:
    """The number of recorded sessions of a configuration, and their calls by tool id."""

    sessions: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Subject:
    """A configuration to audit. `readings` is keyed by the server's name in it (`Reading.named`).

    `settings` shape the manifest that discovery would send; `toolset` is one of the configuration's, or "".
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
        """The connected tools that the toolset permits. Raises ConfigError for an unknown toolset."""
        return permitted(self.connected, self.configuration.toolset(self.toolset))

    @property
    def setup(self) -> Setup:
        """What a session of this configuration starts from."""
        return Setup(self.connected, self.configuration, self.settings, self.toolset, self.summaries)

    @property
    def summaries(self) -> dict[str, str]:
        """The servers' own summaries."""
        return {name: reading.summary for name, reading in self.readings.items()}


@dataclass(frozen=True, slots=True)
class ToolAudit:
    """One tool and its cost."""

    id: str
    cost: ToolCost


@dataclass(frozen=True, slots=True)
class ServerAudit:
    """One server. If it was not measured, `tokens` is 0 and the reading says why."""

    name: str
    reading: Reading
    tools: tuple[ToolAudit, ...] = ()
    tokens: int = 0
    share: float = 0.0

    @property
    def estimate(self) -> int:
        """The estimate of characters / 4, summed over the tools."""
        return sum(tool.cost.estimate for tool in self.tools)

    @property
    def error(self) -> float:
        """Relative error of the estimate: -0.1 is ten percent too low."""
        return relative_error(self.estimate, self.tokens)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested change. `tokens` is the most it saves a model call; for `keep`, the most one could save."""

    kind: str
    text: str
    tokens: int


def title(client: str, scope: str) -> str:
    """The client and the scope of a configuration, in words."""
    return ", ".join(part for part in (client, scope) if part)


@dataclass(frozen=True, slots=True)
class ConfigurationAudit:
    """One configuration. `discovery` is the tool tokens of a first model call with every server deferred.

    `session` is what a session with its searches costs under every delivery; None without tools.
    """

    client: str
    scope: str
    source: str
    servers: tuple[ServerAudit, ...]
    tokens: int
    share: float
    discovery: int
    session: PricedSession | None = None
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
    def verdict(self) -> Verdict | None:
        """Whether discovery pays for the measured tools; None without any, or where nobody asked."""
        return None if self.session is None else verdict(self.session)

    @property
    def saved(self) -> int:
        """Tokens that discovery saves in the first call, before any search; negative if it costs more."""
        return self.tokens - self.discovery

    @property
    def saved_fraction(self) -> float:
        return self.saved / self.tokens if self.tokens else 0.0

    @property
    def title(self) -> str:
        """The client and the scope, in words."""
        return title(self.client, self.scope)

    @property
    def measured(self) -> tuple[ServerAudit, ...]:
        return tuple(server for server in self.servers if server.reading.is_measured)


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of all numbers in an audit; `prices` belong to another model if `model` has none."""

    model: str
    tokenizer: Tokenizer
    window: int
    prices: Prices | None = None
    assumed: Assumptions = Assumptions()
    terms: CacheTerms = UNCACHED


@dataclass(frozen=True, slots=True)
class Problem:
    """A file, or part of one, that cannot be audited."""

    client: str
    scope: str
    source: str
    error: str
    hint: str = ""

    @property
    def title(self) -> str:
        """The client and the scope, in words."""
        return title(self.client, self.scope)


@dataclass(frozen=True, slots=True)
class Audit:
    """The whole audit. `empty` lists files in which a client has no servers.

    `first_call` is the budget of the first model call as configured, if only one configuration was measured.
    """

    basis: Basis
    configurations: tuple[ConfigurationAudit, ...]
    problems: tuple[Problem, ...] = ()
    empty: tuple[str, ...] = ()
    first_call: Budget | None = None


def relative_error(estimate: int, tokens: int) -> float:
    return estimate / tokens - 1 if tokens else 0.0
