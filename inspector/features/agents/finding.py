"""What a session shows of an agent's servers and tools: what was known, found, called, missed, and paid."""

from collections.abc import Callable, Iterable
from enum import StrEnum

from msgspec import Struct, field

from inspector.core.budget import Prices
from inspector.core.events import (
    CallFinished,
    CallStarted,
    CatalogBuilt,
    ContextReduced,
    Event,
    ModelRequested,
    ModelResponded,
    ModelSwitched,
    Record,
    SearchPerformed,
    ServerFailed,
    SessionStarted,
    ToolEvicted,
    ToolLoaded,
    TurnEnded,
    UserSaid,
)
from inspector.core.turns import ModelCall, Turn, turns
from inspector.features.agents.reported import Answer, Reported, reported
from inspector.features.agents.transcript import TOTALS
from inspector.session.miss import Miss, MissCause, unused_in

HOUR, FIVE_MINUTES = 3600.0, 300.0
# No provider keeps a shorter prefix, so a smaller loss is a mark that moved and not a cache that was lost.
LEAST = 1024


class RewriteCause(StrEnum):
    """What happened between two model calls that a cache does not outlive, the surest first."""

    COMPACTION = "the conversation was compacted"
    MODEL = "the model changed"
    HOUR = "more than an hour passed"
    TOOLS = "the tools changed"
    FIVE_MINUTES = "more than 5 minutes passed"
    UNKNOWN = "unknown"


_CAUSE = {
    ContextReduced.kind: RewriteCause.COMPACTION,
    ModelSwitched.kind: RewriteCause.MODEL,
    CatalogBuilt.kind: RewriteCause.TOOLS,
    ToolLoaded.kind: RewriteCause.TOOLS,
    ToolEvicted.kind: RewriteCause.TOOLS,
}


class CacheRewrite(Struct, frozen=True):
    """A model call that read less from the cache than the call before had left in it.

    `tokens` is how many less. `causes` are all that apply, the surest first: which of them it was, nobody
    reports.
    """

    call: int
    tokens: int
    causes: tuple[RewriteCause, ...]

    @property
    def cause(self) -> RewriteCause:
        return self.causes[0]


class CacheRewrites:
    """Every rewrite in a session's records so far; model calls that report no cache are passed over.

    Idle time is counted from answer to answer: of a real agent nobody records when a request was sent.
    """

    def __init__(self) -> None:
        self.found: tuple[CacheRewrite, ...] = ()
        self._happened: set[RewriteCause] = set()
        self._cached, self._at = 0, 0.0

    def add(self, records: Iterable[Record]) -> None:
        """Go on with these records."""
        for record in records:
            event = record.event
            if record.kind in _CAUSE:
                self._happened.add(_CAUSE[record.kind])
            elif isinstance(event, ModelResponded) and event.finish_reason != TOTALS:
                self._answered(event, record.at)

    def _answered(self, event: ModelResponded, at: float) -> None:
        if event.usage.cached_tokens is None:
            return
        lost = self._cached - event.usage.cached_tokens
        if lost >= LEAST:
            self.found += (CacheRewrite(event.call, lost, _causes(self._happened, at - self._at)),)
        self._cached, self._at = event.usage.cached_tokens + (event.usage.written_tokens or 0), at
        self._happened.clear()


def _causes(happened: set[RewriteCause], idle: float) -> tuple[RewriteCause, ...]:
    applying = set(happened)
    if idle > FIVE_MINUTES:
        applying.add(RewriteCause.HOUR if idle > HOUR else RewriteCause.FIVE_MINUTES)
    return tuple(cause for cause in RewriteCause if cause in applying) or (RewriteCause.UNKNOWN,)


_READ: tuple[type[Event], ...] = (
    *(SessionStarted, ModelSwitched, CatalogBuilt, ServerFailed, UserSaid, TurnEnded, ModelRequested),
    *(ModelResponded, SearchPerformed, ToolLoaded, ToolEvicted, CallStarted, CallFinished, ContextReduced),
)
KINDS = tuple(event.kind for event in _READ)
"""The kinds of events that findings are made of."""


class ToolUse(Struct):
    """The tokens that one tool took, as far as the transcript has the texts.

    `definition` are those of its definition in one model call, `sent` in all `requests` that it went with;
    `results` those that the arguments and results of its calls added to the conversation, each counted once.
    Of `unsized` requests the transcript does not hold the definition.
    """

    calls: int = 0
    requests: int = 0
    unsized: int = 0
    definition: int = 0
    sent: int = 0
    results: int = 0

    @property
    def tokens(self) -> int:
        return self.sent + self.results

    def add(self, other: "ToolUse") -> None:
        """Count another session's too."""
        self.definition = max(self.definition, other.definition)
        for name in ("calls", "requests", "unsized", "sent", "results"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class ServerUse(Struct):
    """One server, in one session or in all that knew it. Tools are ids, each of them counted once.

    The model was `given` those that were bound or loaded, and of a tap those that were listed to be bound.
    `calls` counts tool calls, `tokens` those of its definitions over all model calls and `results` those of
    its calls' arguments and results, as far as they are known. `missed` counts the searches that found tools
    of it and led to another search instead of a call. `trouble` is why it failed last, "" if it never did;
    `failed` and `logins` count the sessions in which it failed, and those in which it waited for a login.
    """

    server: str
    is_own: bool = False
    sessions: int = 1
    known: set[str] = field(default_factory=set)
    given: set[str] = field(default_factory=set)
    deferred: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    calls: int = 0
    missed: int = 0
    tokens: int = 0
    results: int = 0
    trouble: str = ""
    failed: int = 0
    logins: int = 0

    @property
    def unused(self) -> set[str]:
        """What was loaded and never called."""
        return self.loaded - self.called

    def add(self, other: "ServerUse") -> None:
        """Count another session's use, too."""
        for name in ("known", "given", "deferred", "loaded", "called"):
            getattr(self, name).update(getattr(other, name))
        for name in ("sessions", "calls", "missed", "tokens", "results", "failed", "logins"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.trouble = other.trouble or self.trouble


class Findings(Struct):
    """One session, summed up. `agent` is "" for a session of Toolsight's own.

    `sent` are the tokens of all requests as counted here, `definitions` those of tools in the newest of them,
    or in a list of what is not deferred. `reported` is the sum of `answers`, each of which
    may be a copy of another session's. `tool_tokens` are those that the agent itself counted for one request.
    """

    session: str
    agent: str = ""
    model: str = ""
    model_calls: int = 0
    searches: int = 0
    sent: int = 0
    definitions: int = 0
    servers: dict[str, ServerUse] = field(default_factory=dict)
    tools: dict[str, ToolUse] = field(default_factory=dict)
    tool_tokens: int | None = None
    misses: tuple[Miss, ...] = ()
    rewrites: tuple[CacheRewrite, ...] = ()
    reported: Reported = field(default_factory=Reported)
    answers: list[tuple[Answer, Reported]] = field(default_factory=list)

    def server(self, name: str) -> ServerUse:
        """The use of a server, which is known from now on. The agent's own tools stand under its name."""
        if name not in self.servers:
            self.servers[name] = ServerUse(name, is_own=name == self.agent)
        return self.servers[name]

    def tool(self, tool_id: str) -> ToolUse:
        """The use of a tool."""
        if tool_id not in self.tools:
            self.tools[tool_id] = ToolUse()
        return self.tools[tool_id]

    def server_of(self, tool_id: str) -> ServerUse:
        """The use of a tool's server."""
        return self.server(tool_id.partition(":")[0])


def findings(records: Iterable[Record], prices: Callable[[str], Prices | None]) -> Findings:
    """Sum up one session's records, at least those of `KINDS`; each is read once, and none is kept.

    `prices` takes the name of a model.
    """
    found, rewrites, missed = Findings(""), CacheRewrites(), list[Miss]()
    tokens: dict[str, int] = {}
    for turn in turns(records):
        found.session, found.agent, found.model = turn.session.id, turn.session.agent, turn.session.model
        _add_servers(found, turn)
        _add_calls(found, turn, tokens, prices)
        missed += (miss for miss in unused_in(turn) if miss.cause is not MissCause.ENDED)
        rewrites.add(turn.records)
    found.misses, found.rewrites = tuple(missed), rewrites.found
    for miss in missed:
        for server in {tool_id.partition(":")[0] for tool_id in miss.found}:
            found.server(server).missed += 1
    for use in found.servers.values() if not found.model_calls else ():
        use.given |= use.known - use.deferred
    return found


def _add_servers(found: Findings, turn: Turn) -> None:
    """What a turn shows of servers and their tools."""
    for catalog in turn.of(CatalogBuilt):
        found.definitions = sum(entry.tokens for entry in catalog.entries if not entry.deferred)
        for entry in catalog.entries:
            use = found.server_of(entry.id)
            use.known.add(entry.id)
            found.tool(entry.id).definition = entry.tokens
            if entry.deferred:
                use.deferred.add(entry.id)
    for failed in turn.of(ServerFailed):
        use = found.server(failed.server)
        use.trouble, use.failed, use.logins = failed.reason, 1, int(failed.needs_login)
    for loaded in turn.of(ToolLoaded):
        found.server_of(loaded.tool).loaded.add(loaded.tool)
        found.server_of(loaded.tool).given.add(loaded.tool)
    for called in turn.of(CallStarted):
        use = found.server_of(called.tool)
        use.calls += 1
        use.called.add(called.tool)
        found.tool(called.tool).calls += 1
    for ended in turn.of(CallFinished):
        found.server_of(ended.tool).results += ended.tokens or 0
        found.tool(ended.tool).results += ended.tokens or 0


def _add_calls(
    found: Findings, turn: Turn, tokens: dict[str, int], prices: Callable[[str], Prices | None]
) -> None:
    """What a turn's model calls were sent and answered; `tokens` are those of each definition so far."""
    found.searches += len(turn.searches)
    for call in turn.calls:
        tokens |= {entry.id: entry.tokens for entry in call.catalog.entries} if call.catalog else {}
        tokens |= {event.tool: event.tokens for event in call.loaded}
        if call.answer is None or call.answer.finish_reason != TOTALS:
            _add_request(found, call, tokens)
        if call.answer is not None:
            found.tool_tokens = call.answer.tool_tokens or found.tool_tokens
            one = reported(call.answer, call.model, prices)
            found.reported.add(one)
            found.answers.append(((call.answer.message, call.answer.usage), one))


def _add_request(found: Findings, call: ModelCall, tokens: dict[str, int]) -> None:
    found.model_calls += 1
    found.sent += call.request.tokens.input
    sizes = {tool_id: tokens.get(tool_id, 0) for tool_id in call.request.bound}
    found.definitions = sum(sizes.values())
    for tool_id, size in sizes.items():
        server, used = found.server_of(tool_id), found.tool(tool_id)
        server.tokens += size
        server.given.add(tool_id)
        used.definition = size
        used.requests += 1
        used.unsized += not size
        used.sent += size


class AgentReport(Struct, frozen=True):
    """Many sessions: servers with most tool calls first, the agents' own last, and tools with most tokens.

    `rewrites` has for each cause how often the cache was lost, and how many tokens were not read from it.
    """

    sessions: tuple[Findings, ...]
    servers: tuple[ServerUse, ...]
    tools: tuple[tuple[str, ToolUse], ...]
    rewrites: dict[RewriteCause, tuple[int, int]]
    reported: Reported

    @property
    def searches(self) -> int:
        return sum(one.searches for one in self.sessions)

    @property
    def missed(self) -> int:
        return sum(len(one.misses) for one in self.sessions)


def agent_report(sessions: Iterable[Findings]) -> AgentReport:
    """Sum up these sessions; an answer that several of them hold is paid once."""
    found = tuple(sessions)
    servers: dict[str, ServerUse] = {}
    rewrites: dict[RewriteCause, tuple[int, int]] = {}
    for session in found:
        for name, use in session.servers.items():
            servers.setdefault(name, ServerUse(name, use.is_own, sessions=0)).add(use)
        for rewrite in session.rewrites:
            times, lost = rewrites.get(rewrite.cause, (0, 0))
            rewrites[rewrite.cause] = times + 1, lost + rewrite.tokens
    ordered = sorted(servers.values(), key=lambda use: (use.is_own, -use.calls, use.server))
    return AgentReport(found, tuple(ordered), by_tokens(found), rewrites, _paid_once(found))


def tool_uses(sessions: Iterable[Findings]) -> dict[str, ToolUse]:
    """Every tool of these sessions, also one that took nothing."""
    tools: dict[str, ToolUse] = {}
    for session in sessions:
        for tool_id, use in session.tools.items():
            tools.setdefault(tool_id, ToolUse()).add(use)
    return tools


def by_tokens(sessions: Iterable[Findings]) -> tuple[tuple[str, ToolUse], ...]:
    """The tools that took tokens in these sessions, the most first."""
    used = (pair for pair in tool_uses(sessions).items() if pair[1].tokens)
    return tuple(sorted(used, key=lambda pair: (-pair[1].tokens, pair[0])))


def _paid_once(sessions: Iterable[Findings]) -> Reported:
    """What all answers cost; a resumed or forked session holds copies of another one's answers."""
    paid: set[tuple[str, Answer]] = set()
    total = Reported()
    for session in sessions:
        told = [((session.agent, answer), one) for answer, one in session.answers]
        for key, one in told:
            if key not in paid:
                total.add(one)
        paid.update(key for key, _ in told if key[1][0])
    return total
