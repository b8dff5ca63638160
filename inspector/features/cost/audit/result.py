"""The result of an audit, from one tool up to the whole machine, and how its servers are read.

Tokens are counted on the compact `tools` array that static binding sends with every model call.
"""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.access import Audience, ServerRule
from inspector.core.budget import Prices, Tokenizer, ToolCost
from inspector.core.error import AuthRequired, ConnectError, ToolsightError
from inspector.core.ports import Clock, ServerMemory, Snapshot
from inspector.core.prompt_cache import UNCACHED, CacheTerms
from inspector.core.redaction import SECRETS, clean
from inspector.core.server import ServerSpec
from inspector.core.settings import Settings
from inspector.core.tool import Tool
from inspector.mcp.listing import list_tools, remember_tools
from inspector.mcp.port import Connector, Opening, Unattended
from inspector.session.setup import Setup
from inspector.session.verdict import PricedSession, Verdict, verdict
from inspector.tokens.plan import Assumptions

NOT_APPROVED = "not approved"
# How many servers start at the same time: many of them unpack a package first.
_AT_ONCE = 4
_LONGEST_REASON = 200
# A server's complaint about a missing key: a variable name of this form, and words that say it is missing.
_KEY = re.compile(r"\b[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|PAT|AUTH)\b")
_LACKING = re.compile(
    r"\b(?:not (?:set|found|provided|defined|configured)|unset|missing|required?|requires|must|provide"
    r"|needs?|undefined|no|without)\b",
    re.IGNORECASE,
)


class Reading(Struct, frozen=True):
    """One server's tools, or the reason why they could not be measured.

    `at` is the time (seconds since 1970, UTC) of a snapshot used instead of the server; None if the server
    itself was asked. `left_out` counts tools that the client excludes. `instructions` are what the server
    tells a model about its use; None if that is not known, as of a snapshot.
    """

    tools: tuple[Tool, ...] | None = None
    summary: str = ""
    at: float | None = None
    reason: str = ""
    hint: str = ""
    left_out: int = 0
    instructions: str | None = None

    @property
    def is_measured(self) -> bool:
        return self.tools is not None

    def named(self, server: str) -> "Reading":
        """The same reading under the server name of a configuration."""
        if all(tool.server == server for tool in self.tools or ()):
            return self
        assert self.tools is not None
        return replace(self, tools=tuple(replace(tool, server=server) for tool in self.tools))

    def within(self, rule: ServerRule) -> "Reading":
        """The same reading without the tools that a rule does not permit."""
        if self.tools is None:
            return self
        kept = tuple(tool for tool in self.tools if rule.permits(tool.name))
        return replace(self, tools=kept, left_out=len(self.tools) - len(kept))


async def ask_servers(
    specs: Sequence[ServerSpec],
    connector: Connector,
    memory: ServerMemory,
    clock: Clock,
    progress: Callable[[int, int], None],
) -> dict[str, Reading]:
    """Start every server, list its tools and stop it; return readings by fingerprint, including failed ones.

    Specs with the same fingerprint are one server. The tools are stored as a snapshot. `progress` receives
    how many servers are done. Raises StoreError.
    """
    unique = {spec.fingerprint(): spec for spec in specs}
    gate, done = asyncio.Semaphore(_AT_ONCE), 0

    async def ask(spec: ServerSpec) -> Reading:
        nonlocal done
        async with gate:
            reading = await _ask(spec, connector, memory, clock)
        done += 1
        progress(done, len(unique))
        return reading

    progress(0, len(unique))
    readings = await asyncio.gather(*map(ask, unique.values()))
    return dict(zip(unique, readings, strict=True))


def stored(spec: ServerSpec, memory: ServerMemory) -> Reading:
    """The snapshot of a server that may not or cannot be started, if there is one. Raises StoreError."""
    if spec.lacks:
        return Reading(reason=f"needs {spec.lacks}", hint=spec.advice)
    snapshot = memory.snapshot(spec.fingerprint())
    if snapshot is None:
        return Reading(
            reason=NOT_APPROVED,
            hint="Run the command in a terminal to see what it would start, or add --approve.",
        )
    return Reading(snapshot.tools, snapshot.summary, snapshot.at)


def unreadable(fault: ToolsightError) -> Reading:
    """The reading of a server whose entry in the file is invalid."""
    return Reading(reason=_first_line(fault.message), hint=fault.hint)


async def _ask(spec: ServerSpec, connector: Connector, memory: ServerMemory, clock: Clock) -> Reading:
    SECRETS.learn(spec.secrets)
    fingerprint = spec.fingerprint()
    era = memory.era(fingerprint)
    try:
        async with connector.connect(spec, Opening(era, client=Unattended())) as link:
            listing, info = await list_tools(link, spec.connect_timeout), link.info
    except ToolsightError as error:
        return _failed(error)
    if info.era is not era:
        memory.remember_era(fingerprint, info.era)
    remember_tools(memory, spec, Snapshot(listing.tools, clock.now(), info.summary))
    return Reading(listing.tools, info.summary, instructions=info.instructions)


def _failed(error: ToolsightError) -> Reading:
    """The reading of a failed server: what it lacks if it says so, else its error, without its secrets."""
    reason, hint = _first_line(error.message), error.hint
    if isinstance(error, AuthRequired):
        reason = f"needs credentials: {reason}"
    elif isinstance(error, ConnectError) and (lacking := _lacking(error.stderr_tail)) is not None:
        key, line = lacking
        reason, hint = f"needs {key}: {line}", f"Set {key} in the server's `env`."
    return Reading(reason=clean(reason), hint=clean(hint))


def _lacking(stderr: str) -> tuple[str, str] | None:
    """The variable that a server says is missing, and the line that says so."""
    for line in stderr.splitlines():
        key = _KEY.search(line)
        if key and _LACKING.search(line):
            return key.group(), _first_line(line)
    return None


def _first_line(text: str) -> str:
    return next(iter(text.strip().splitlines()), "")[:_LONGEST_REASON]


class Usage(Struct, frozen=True):
    """The number of recorded sessions of a configuration, and their calls by tool id."""

    sessions: int = 0
    calls: Mapping[str, int] = field(default_factory=dict)


class Subject(Struct, frozen=True):
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
        """The tools that a model may know under the toolset. Raises ConfigError for an unknown toolset."""
        return Audience(self.configuration.toolset(self.toolset)).of(self.connected)

    @property
    def setup(self) -> Setup:
        """What a session of this configuration starts from."""
        return Setup(self.connected, self.configuration, self.settings, self.toolset, self.summaries)

    @property
    def summaries(self) -> dict[str, str]:
        """The servers' own summaries."""
        return {name: reading.summary for name, reading in self.readings.items()}


class ToolAudit(Struct, frozen=True):
    """One tool and its cost."""

    id: str
    cost: ToolCost


class ServerAudit(Struct, frozen=True):
    """One server. If it was not measured, `tokens` is 0 and the reading says why.

    `instructions` are the tokens of its instructions, which many clients send beside the tools.
    """

    name: str
    reading: Reading
    tools: tuple[ToolAudit, ...] = ()
    tokens: int = 0
    share: float = 0.0
    instructions: int | None = None

    @property
    def estimate(self) -> int:
        """The estimate of characters / 4, summed over the tools."""
        return sum(tool.cost.estimate for tool in self.tools)

    @property
    def error(self) -> float:
        """Relative error of the estimate: -0.1 is ten percent too low."""
        return relative_error(self.estimate, self.tokens)


class Suggestion(Struct, frozen=True):
    """A suggested change. `tokens` is the most it saves a model call; for `keep`, the most one could save."""

    kind: str
    text: str
    tokens: int


def title(client: str, scope: str) -> str:
    """The client and the scope of a configuration, in words."""
    return ", ".join(part for part in (client, scope) if part)


class ConfigurationAudit(Struct, frozen=True):
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


class Basis(Struct, frozen=True):
    """The basis of all numbers in an audit; `prices` belong to another model if `model` has none."""

    model: str
    tokenizer: Tokenizer
    window: int
    prices: Prices | None = None
    assumed: Assumptions = Assumptions()
    terms: CacheTerms = UNCACHED


class Problem(Struct, frozen=True):
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


class Audit(Struct, frozen=True):
    """The whole audit. `empty` lists files in which a client has no servers."""

    basis: Basis
    configurations: tuple[ConfigurationAudit, ...]
    problems: tuple[Problem, ...] = ()
    empty: tuple[str, ...] = ()


def relative_error(estimate: int, tokens: int) -> float:
    return estimate / tokens - 1 if tokens else 0.0
