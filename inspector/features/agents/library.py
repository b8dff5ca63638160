"""What can be done with the transcripts on this machine and their sessions, and what they report."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from inspector.core.number import count, percent, tokens
from inspector.features.agents.finding import Answer, Findings, Reported, RewriteCause, ServerUse, ToolUse
from inspector.features.agents.importing import Imported, ImportedSession
from inspector.features.agents.transcript import Tally
from inspector.session.miss import Backlog, backlog


@dataclass(frozen=True, slots=True)
class Found:
    """A folder of an agent, and the files in it that may be transcripts; none of them was opened."""

    agent: str
    folder: str
    files: int
    bytes: int


@dataclass(slots=True)
class ImportReport:
    """An import of many transcripts. `skipped` are files that could not be read, and why."""

    imported: Imported = field(default_factory=Imported)
    transcripts: int = 0
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def sessions(self) -> Sequence[ImportedSession]:
        return self.imported.sessions

    @property
    def tally(self) -> Tally:
        return self.imported.tally


class AgentLibrary(Protocol):
    """Imports transcripts, and reads what they show. Every method may take long, and belongs in a thread."""

    def folders(self) -> tuple[Found, ...]:
        """Where the known agents keep their transcripts, as far as that is there."""

    def import_from(
        self,
        paths: Sequence[str],
        progress: Callable[[int, int], None],
        stopped: Callable[[], bool],
        last: int | None = None,
    ) -> ImportReport:
        """Import files, and all transcripts below folders; of all these the `last` newest.

        `progress` gets the bytes done and all there are. Raises ConfigError if none can be read, StoreError.
        """

    def findings(self, session: str) -> Findings:
        """What a session shows. Raises StoreError."""

    def write_requests(self, sessions: Sequence[str], path: str) -> int:
        """Add the sessions' labelled requests to a file, and return how many were new.

        Raises ConfigError if the file cannot be read or written, StoreError.
        """


SUGGESTIONS = 3
_WASTED = 0.5


@dataclass(slots=True)
class ServerTotal:
    """A server over all sessions that knew it. Counts of tools are of different ones.

    `missed` counts the searches that found tools of it and led to another search instead of a call;
    `failed` and `logins` the sessions in which it failed, and those in which it waited for a login.
    """

    server: str
    is_own: bool = False
    sessions: int = 0
    known: set[str] = field(default_factory=set)
    deferred: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    calls: int = 0
    loads: int = 0
    unused_loads: int = 0
    missed: int = 0
    tokens: int = 0
    results: int = 0
    failed: int = 0
    logins: int = 0

    @property
    def never_called(self) -> int:
        """How many of the known tools no session called."""
        return len(self.known - self.called)

    def add(self, use: ServerUse) -> None:
        """Count one session's use."""
        self.sessions += 1
        self.known |= use.known
        self.deferred |= use.deferred
        self.loaded |= use.loaded
        self.called |= use.called
        self.calls += use.calls
        self.loads += len(use.loaded)
        self.unused_loads += len(use.unused)
        self.tokens += use.tokens
        self.results += use.results
        self.failed += bool(use.trouble)
        self.logins += use.needs_login


@dataclass(slots=True)
class RewriteTotal:
    """The cache rewrites of one cause, and how many tokens were not read from the cache for them."""

    count: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class AgentReport:
    """All of it. `servers` are those with most tool calls first, the agents' own tools last.

    `tools` are those that took tokens, the most first.
    """

    sessions: tuple[Findings, ...]
    servers: tuple[ServerTotal, ...]
    tools: tuple[tuple[str, ToolUse], ...]
    backlog: tuple[Backlog, ...]
    rewrites: dict[RewriteCause, RewriteTotal]
    reported: Reported
    searches: int
    missed: int

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What to change first, at most three; each follows from numbers of the report."""
        return tuple(text for text, _ in zip(_suggestions(self), range(SUGGESTIONS), strict=False))


def agent_report(sessions: Iterable[Findings]) -> AgentReport:
    """Sum up these sessions; an answer that several of them hold is paid once."""
    found = tuple(sessions)
    servers: dict[str, ServerTotal] = {}
    rewrites: dict[RewriteCause, RewriteTotal] = {}
    reported = Reported()
    for session in found:
        for name, use in session.servers.items():
            total = servers.setdefault(name, ServerTotal(name, is_own=name == session.agent))
            total.add(use)
        for miss in session.misses:
            for server in servers.keys() & {tool_id.partition(":")[0] for tool_id in miss.found}:
                servers[server].missed += 1
        for rewrite in session.rewrites:
            total_of = rewrites.setdefault(rewrite.cause, RewriteTotal())
            total_of.count += 1
            total_of.tokens += rewrite.tokens
    for paid in _paid_once(found):
        reported.add(paid)
    missed = [miss for session in found for miss in session.misses]
    return AgentReport(
        found,
        tuple(sorted(servers.values(), key=lambda total: (total.is_own, -total.calls, total.server))),
        by_tokens(found),
        backlog(missed),
        rewrites,
        reported,
        searches=sum(session.searches for session in found),
        missed=len(missed),
    )


def by_tokens(sessions: Iterable[Findings]) -> tuple[tuple[str, ToolUse], ...]:
    """The tools that took tokens in these sessions, the most first."""
    tools: dict[str, ToolUse] = {}
    for session in sessions:
        for tool_id, use in session.tools.items():
            tools.setdefault(tool_id, ToolUse()).add(use)
    used = (pair for pair in tools.items() if pair[1].tokens)
    return tuple(sorted(used, key=lambda pair: (-pair[1].tokens, pair[0])))


def _paid_once(sessions: Iterable[Findings]) -> Iterator[Reported]:
    """What each answer cost; a resumed or forked session holds copies of another one's answers."""
    paid: set[tuple[str, Answer]] = set()
    for session in sessions:
        told = [((session.agent, answer), reported) for answer, reported in session.answers]
        yield from (reported for key, reported in told if key not in paid)
        paid.update(key for key, _ in told if key[1][0])


def _suggestions(report: AgentReport) -> Iterator[str]:
    """The best of each kind, what is broken first."""
    servers = [total for total in report.servers if not total.is_own]
    yield from _broken(servers)
    yield from _never_called(servers)
    yield from _missed(report)
    yield from _rewritten(report)
    yield from _never_used(servers)


def _broken(servers: list[ServerTotal]) -> Iterator[str]:
    worst = max(servers, key=lambda total: total.failed, default=None)
    if worst is None or not worst.failed:
        return
    where = f"{worst.failed:,} of {count(worst.sessions, 'session')}"
    if worst.logins:
        yield f"{worst.server} needed a login in {where}. Log in, or leave the server out."
    else:
        yield f"{worst.server} failed in {where}. Fix the server, or leave it out."


def _never_called(servers: list[ServerTotal]) -> Iterator[str]:
    idle = [total for total in servers if total.known and not total.calls]
    most = max(idle, key=lambda total: (len(total.known) * total.sessions, total.server), default=None)
    if most is not None:
        known, sessions = count(len(most.known), "tool"), count(most.sessions, "session")
        yield f"{most.server} offered {known} but got no calls in {sessions}. Leave it out there."


def _missed(report: AgentReport) -> Iterator[str]:
    top = report.backlog[0] if report.backlog else None
    if top is not None:
        searches = count(top.count, "search", "searches")
        yield f"{searches} like “{top.queries[0]}” led to no call. Add these words to a tool's description."


def _rewritten(report: AgentReport) -> Iterator[str]:
    known = [(cause, total) for cause, total in report.rewrites.items() if cause is not RewriteCause.UNKNOWN]
    worst = max(known, key=lambda pair: pair[1].tokens, default=None)
    if worst is not None:
        cause, total = worst
        rewrites = count(total.count, "cache rewrite")
        yield f"{rewrites} ({tokens(total.tokens)} tokens), probably because {cause}."


def _never_used(servers: list[ServerTotal]) -> Iterator[str]:
    wasteful = [total for total in servers if total.loads and total.unused_loads / total.loads >= _WASTED]
    worst = max(wasteful, key=lambda total: (total.unused_loads, total.server), default=None)
    if worst is not None:
        share = percent(worst.unused_loads / worst.loads)
        yield f"{worst.server}: {share} of the tools that searches loaded were never called."
