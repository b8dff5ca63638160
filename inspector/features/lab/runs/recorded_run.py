"""Plays recorded runs through the loop, alone with their recorded servers, and sums up what each shows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.configuration import Configuration
from inspector.core.budget import Tokenizer
from inspector.core.events import (
    CallFinished,
    CallRejected,
    Decision,
    ModelRequested,
    Record,
    SearchPerformed,
)
from inspector.core.message import AssistantMessage
from inspector.core.ports import ApprovalRequest, TokenCounter
from inspector.core.ranking import Answer, Outcome, SearchReport
from inspector.core.session import SessionState
from inspector.core.tool import Tool, wire_name
from inspector.core.turns import turns
from inspector.features.lab.run import LabClock
from inspector.features.lab.runs.recorded_agent import AgentLog, Lack, Reason, RecordedAgent, session_of
from inspector.mcp.recorded_link import RecordedRun, RecordedServers
from inspector.search.index.tool_index import ToolIndex
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench
from inspector.tokens.accounting import Accounting

LOOP = "loop"


class Need(Struct, frozen=True):
    """A tool that the run called, once for each run.

    `rank` is its best rank in the searches before its first call, 0 if none matched it; `returned` whether
    one of them returned it; `reached` whether its first call went through without a look-up by name.
    """

    tool: str
    rank: int
    returned: bool
    reached: bool


class Refused(Struct, frozen=True):
    """A call of a tool that was not bound; `recovered` if the run called the tool again, and it was bound."""

    name: str
    recovered: bool


class Spent(Struct, frozen=True):
    """Tokens of a run over all its model calls, and what they cost in US dollars.

    `tool_tokens` are definitions, manifest and summaries, `searches` what searches left in the conversation,
    `input` everything sent. `cost` is with a prompt cache on the model's terms, `uncached` without one; both
    are 0 if the model has no price.
    """

    tool_tokens: int = 0
    searches: int = 0
    input: int = 0
    output: int = 0
    cost: float = 0.0
    uncached: float = 0.0


class PlayedRun(Struct, frozen=True):
    """A run played in one setup. `evicted` are the calls of tools that had been evicted, by cause.

    `searches` counts them by reason, `answers` by what they said; `discovered` are the tools that
    searches not by name returned, `used` those of them that the run called. `rejected` are calls that could
    not be made. `loops` counts the times that the iteration guard stepped in, `redundant` the searches that
    were noted as bringing nothing new. `ahead` counts the tools that were bound ahead, `ahead_used` those of
    them that no search had to find. `bound` counts the tools that were bound in each model call.
    """

    id: str
    task: str
    solved: bool | None
    model_calls: int
    calls: int
    searches: dict[Reason, int]
    answers: dict[Answer, int]
    needs: tuple[Need, ...]
    discovered: int
    used: int
    evicted: tuple[Lack, ...]
    rejected: int
    loops: int
    redundant: int
    spent: Spent
    tokenizer: Tokenizer
    ahead: int = 0
    ahead_used: int = 0
    bound: tuple[int, ...] = ()
    refused: tuple[Refused, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether the run reached every tool that it called by searching, and no call was rejected."""
        return not self.rejected and all(need.reached for need in self.needs)


def outcome(
    run: RecordedRun, log: AgentLog, records: Sequence[Record], accounting: Accounting, state: SessionState
) -> PlayedRun:
    """Sum up the records of a played run."""
    reports = [record.event.report for record in records if isinstance(record.event, SearchPerformed)]
    discovered = _discovered(log, reports)
    barred, refused = _refused(records)
    return PlayedRun(
        id=run.id,
        task=run.task,
        solved=run.solved,
        model_calls=sum(log.counted),
        calls=state.calls,
        searches={reason: log.searches.count(reason) for reason in Reason},
        answers={answer: sum(report.answer is answer for report in reports) for answer in Answer},
        needs=tuple(_needs(log, reports, barred)),
        discovered=len(discovered),
        used=len(discovered & log.needed.keys()),
        evicted=tuple(lack for lack in log.lacked if lack.cause),
        rejected=state.rejections,
        loops=state.loops,
        redundant=state.redundant,
        spent=_spent(log, records, accounting),
        tokenizer=accounting.meter.tokenizer,
        ahead=len(state.inertia.ahead),
        ahead_used=len(state.inertia.used),
        bound=tuple(
            len(record.event.bound) for record in records if isinstance(record.event, ModelRequested)
        ),
        refused=refused,
    )


def _refused(records: Sequence[Record]) -> tuple[frozenset[str], tuple[Refused, ...]]:
    """The names whose first call was refused, and all refused calls."""
    calls: list[tuple[str, bool]] = []
    for record in records:
        if isinstance(record.event, CallRejected):
            calls.append((record.event.name, False))
        elif isinstance(record.event, CallFinished):
            calls.append((wire_name(*record.event.tool.split(":", 1)), True))
    first = dict(reversed(calls))
    last = {name: at for at, (name, passed) in enumerate(calls) if passed}
    refused = (Refused(name, at < last.get(name, 0)) for at, (name, passed) in enumerate(calls) if not passed)
    return frozenset(name for name, passed in first.items() if not passed), tuple(refused)


def _discovered(log: AgentLog, reports: Sequence[SearchReport]) -> frozenset[str]:
    """The tools that the searches returned which say something; a search by name finds what it names."""
    counted = _telling(log)
    by_reason = zip(log.searches, reports, strict=True) if reports else ()
    return frozenset(
        hit.tool_id for reason, report in by_reason if reason in counted for hit in report.results
    )


def _telling(log: AgentLog) -> frozenset[Reason]:
    """If the agent searched by itself, only its own searches show how well tools are found."""
    return frozenset({Reason.OWN} if Reason.OWN in log.searches else {Reason.FIRST, Reason.AGAIN})


def _needs(log: AgentLog, reports: Sequence[SearchReport], barred: frozenset[str]) -> Iterator[Need]:
    """How each tool was found; the first calls of `barred` ones were refused."""
    counted = _telling(log)
    by_reason = list(zip(log.searches, reports, strict=True)) if reports else []
    for tool, before in log.needed.items():
        earlier = by_reason[:before]
        hits = [
            hit
            for reason, report in earlier
            if reason in counted
            for hit in report.hits
            # What does not match at all has a rank only because everything is listed.
            if hit.tool_id == tool and hit.outcome is not Outcome.BELOW_FLOOR
        ]
        named = any(
            reason is Reason.NAMED and any(hit.tool_id == tool for hit in report.results)
            for reason, report in earlier
        )
        returned = any(hit.outcome.is_result for hit in hits)
        rank = min((hit.rank for hit in hits), default=0)
        yield Need(tool, rank, returned, not named and wire_name(*tool.split(":", 1)) not in barred)


def _spent(log: AgentLog, records: Sequence[Record], accounting: Accounting) -> Spent:
    made = [call for turn in turns(records) for call in turn.calls]
    pairs = [
        (call.request, call.answer)
        for call, counted in zip(made, log.counted, strict=True)
        if counted and call.answer is not None
    ]
    prices, message = accounting.prices(), accounting.meter.message
    output = [message(AssistantMessage(reply.text, reply.tool_calls)) for _, reply in pairs]
    paid = sum(output) * prices.output if prices else 0.0
    billed = sum(request.charge.billed(request.terms) for request, _ in pairs)
    sent = sum(request.tokens.input for request, _ in pairs)
    return Spent(
        tool_tokens=sum(request.tokens.tool_tokens for request, _ in pairs),
        searches=sum(request.tokens.searches for request, _ in pairs),
        input=sent,
        output=sum(output),
        cost=billed * prices.input + paid if prices else 0.0,
        uncached=sent * prices.input + paid if prices else 0.0,
    )


SECONDS_A_CALL = 10.0
"""Between two model calls: less than a prompt cache lives, as in a run without a person."""
WINDOW = 1_000_000
"""Large enough that no run is shortened, so that all setups see the same conversation."""
# A recording ends by itself; the limit is for people's messages.
_STEPS = 1000
_REMEMBERED = 65_536


class RunSetup(Struct, frozen=True):
    """What a run is played in: a profile, with settings by path that override it."""

    name: str
    profile: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Kept(Struct):
    """What stays from run to run, because it depends on texts alone: token counts and the search index."""

    counters: dict[str, "_Counter"] = field(default_factory=dict)
    indexes: dict[str, ToolIndex] = field(default_factory=dict)

    def counting(self, ports: Ports) -> Callable[[str], TokenCounter]:
        """The counters of these ports, each counting a text once."""

        def counter(model: str) -> TokenCounter:
            if model not in self.counters:
                self.counters[model] = _Counter(ports.counter_for(model))
            return self.counters[model]

        return counter


class _Counter:
    """Counts each text once; the same definitions and results come back in every run and setup."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self.count = lru_cache(maxsize=_REMEMBERED)(counter.count)

    @property
    def tokenizer(self) -> Tokenizer:
        return self._counter.tokenizer

    def lengths(self, text: str) -> Sequence[int]:
        """See `TokenCounter`."""
        return self._counter.lengths(text)


class StillClock:
    """Stands still, so that the same run always comes out the same; a `LabClock` over it can wait."""

    def now(self) -> float:
        return 0.0

    def monotonic(self) -> float:
        return 0.0


class Allowed:
    """Allows every call: the recorded agent made it."""

    async def ask(self, request: ApprovalRequest) -> Decision:  # noqa: ARG002
        return Decision.ONCE


class _Bench(Workbench):
    """Builds its catalog once: nothing asks for it before every server is ready."""

    _is_waiting = True

    async def wait_connected(self) -> None:
        await super().wait_connected()
        self._is_waiting = False
        self._rebuild()

    def _rebuild(self) -> None:
        if not self._is_waiting:
            super()._rebuild()


async def play(
    run: RecordedRun, setup: RunSetup, tools: Sequence[Tool], ports: Ports, kept: Kept, *, model: str
) -> PlayedRun:
    """Play a run with all `tools` as its catalog, counted and priced as `model`.

    Of the ports, those for models, servers, time and approval are its own; the session is forgotten
    afterwards. Raises ToolsightError.
    """
    servers, clock = RecordedServers(tools), LabClock(StillClock())
    agent = RecordedAgent(run, servers, clock, name=model, window=WINDOW, seconds_a_call=SECONDS_A_CALL)
    own = replace(
        ports,
        connector=servers,
        clock=clock,
        approver=Allowed(),
        model_for=lambda _name: agent,
        counter_for=kept.counting(ports),
    )
    records: list[Record] = []
    session = session_of(run)
    async with _Bench(
        Configuration("recorded run", servers.specs),
        own,
        model=model,
        session_id=session,
        profile=setup.profile,
        values={**setup.values, "chat.max_steps": _STEPS, "record.max_days": 0},
    ) as bench:
        agent.state = lambda: bench.state
        bench.subscribe(agent.listen)
        bench.subscribe(records.append)
        await _connect(bench, kept)
        for message in run.messages:
            await bench.chat(message.text)
        played = outcome(run, agent.log, records, bench.accounting, bench.state)
    ports.store.forget([session])
    return played


async def _connect(bench: Workbench, kept: Kept) -> None:
    """Connect with the index of earlier runs: it answers as one built anew, to the last bit."""
    embedder = bench.settings.discovery.embedding_model
    if embedder in kept.indexes:
        bench.retrieval.use_index(kept.indexes[embedder])
    bench.connect()
    await bench.wait_connected()
    await bench.retrieval.settled()
    kept.indexes[embedder] = bench.retrieval.index
