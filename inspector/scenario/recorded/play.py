"""Plays one recorded run in one setup: a whole session with the recording for model and servers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from inspector.config.configuration import Configuration
from inspector.core.budget import Tokenizer
from inspector.core.events import Decision, Record
from inspector.core.ports import ApprovalRequest, TokenCounter
from inspector.core.tool import Tool
from inspector.mcp.recorded_link import RecordedRun, RecordedServers
from inspector.scenario.recorded.agent import RecordedAgent, session_of
from inspector.scenario.recorded.outcome import PlayedRun, outcome
from inspector.scenario.run import LabClock
from inspector.search.index import ToolIndex
from inspector.session.assembly import Ports
from inspector.session.workbench import Workbench

SECONDS_A_CALL = 10.0
"""Between two model calls: less than a prompt cache lives, as in a run without a person."""
WINDOW = 1_000_000
"""Large enough that no run is shortened, so that all setups see the same conversation."""
# A recording ends by itself; the limit is for people's messages.
_STEPS = 1000
_REMEMBERED = 65_536


@dataclass(frozen=True, slots=True)
class RunSetup:
    """What a run is played in: a profile, with settings by path that override it."""

    name: str
    profile: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Kept:
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


class _Still:
    """A clock that only a played run moves, so that the same run is always charged the same."""

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
    servers, clock = RecordedServers(tools), LabClock(_Still())
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
        values={**setup.values, "chat.max_steps": _STEPS, "record.max_sessions": 0, "record.max_days": 0},
    ) as bench:
        agent.state = lambda: bench.state
        bench.subscribe(agent.listen)
        bench.subscribe(records.append)
        await _connect(bench, kept)
        for message in run.messages:
            await bench.chat(message.text)
        played = outcome(run, agent.log, records, bench.accounting, bench.state.inertia)
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
