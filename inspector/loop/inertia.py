"""Predicts which tool is called next, from what was called after what before, and binds it ahead if told to.

A tool is bound ahead only where it takes free room, is permitted, waits for a search and could be called now.
What was predicted and what was bound is an event; whether it came true is folded from what follows.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

from inspector.core.error import ToolsightError
from inspector.core.events import CallStarted, Failed, Guess, NextPredicted, Record, UserSaid
from inspector.core.inertia import Aging, InertiaGraph, Successor
from inspector.core.number import percent
from inspector.core.ports import Clock, TaskCalls
from inspector.core.session import Binding, SessionState
from inspector.core.settings import InertiaSettings
from inspector.core.stream import Session
from inspector.loop.binder import Binder
from inspector.loop.session_breakers import Breakers
from inspector.search.answer.retrieval import Live
from inspector.store.call_history import persona_of

# A tool is bound ahead if at least this share of the calls after the previous one went to it, and the share's
# 95 % interval ends no lower than that: chosen on the two collections of docs/papers/composition.md.
MIN_SHARE, MIN_LOW = 0.3, 0.1


def is_likely(successor: Successor) -> bool:
    """Whether a tool follows often enough to be bound ahead, and was seen to often enough."""
    return successor.probability >= MIN_SHARE and successor.low >= MIN_LOW


Seeds = Mapping[str, InertiaGraph]
"""Graphs by persona, as a person wrote them down."""
# As many tools ahead as docs/papers/composition.md measured: more are hardly used.
_MOST_AHEAD = 2
TOP = 3
"""How many tools a prediction names."""


class Inertia:
    """The graph of the session's persona, which grows with every call, and what follows from it."""

    def __init__(
        self,
        session: Session,
        live: Live,
        clock: Clock,
        binder: Binder,
        breakers: Breakers,
        *,
        tasks: Callable[[], Iterator[TaskCalls]] | None,
        seeds: Callable[[str], Seeds],
    ) -> None:
        """`tasks` reads what was called in other sessions, `seeds` a file; both may take a moment."""
        self.graph = InertiaGraph()
        self._own: dict[str, InertiaGraph] = {}
        self._session = session
        self._live = live
        self._clock = clock
        self._binder = binder
        self._breakers = breakers
        self._tasks = tasks
        self._seeds = seeds
        self._toolset = live.toolset
        self._read: tuple[object, ...] = ()
        self._reading: asyncio.Task[None] | None = None
        self._is_closed = False
        self._is_told = True
        self._before = ""
        session.subscribe(self._listen, (UserSaid.kind, CallStarted.kind))

    @property
    def persona(self) -> str:
        """Whose habits the session follows and adds to."""
        return persona_of("", self._settings.persona, self._toolset, self._live.sight.user)

    def follow(self) -> None:
        """Read what the settings as they are now ask for, in the background; nothing if it is read."""
        settings = self._settings
        wanted = (self.persona, settings.seed) if settings.preload != "off" else ()
        if wanted == self._read:
            return
        self._read = wanted
        if wanted:
            self._reading = asyncio.create_task(self._learn(self.persona, settings.seed, self._reading))

    async def settled(self) -> None:
        """Wait until what was recorded is read: what is predicted must not depend on how fast that is."""
        while self._reading is not None and not self._reading.done():
            await asyncio.wait([self._reading])

    def close(self) -> None:
        """Read no more; what is being read in a thread ends with the task that it is at."""
        self._is_closed = True
        if self._reading is not None:
            self._reading.cancel()

    async def _learn(self, persona: str, seed: str, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait([before])
        try:
            graph = await asyncio.to_thread(self._known, persona, seed)
        except ToolsightError as error:
            self._session.emit(Failed("inertia", error.message, error.hint))
            graph = InertiaGraph()
        graph.take(self._own_graph(persona))
        self.graph = graph

    def _known(self, persona: str, seed: str) -> InertiaGraph:
        """What other sessions and the seed file know of a persona."""
        graph = InertiaGraph()
        if seed:
            graph.take(self._seeds(seed).get(persona, InertiaGraph()))
        for task in self._tasks() if self._tasks is not None else ():
            if self._is_closed:
                break
            if task.persona == persona:
                graph.add(task)
        return graph

    def _own_graph(self, persona: str) -> InertiaGraph:
        return self._own.setdefault(persona, InertiaGraph())

    def _listen(self, record: Record) -> None:
        match record.event:
            case UserSaid():
                self._before = ""
            case CallStarted(tool=tool, by="model"):
                for graph in (self._own_graph(self.persona), self.graph):
                    graph.called(self._before, tool, record.at)
                self._before, self._is_told = tool, False

    def before_call(self) -> None:
        """Predict what follows the last call."""
        called = self._state.inertia.called
        if self._is_told or not called or not self.is_warm:
            return
        self._is_told = True
        self._tell(called, self._found(called), ())

    def with_search(self, best: Sequence[str]) -> None:
        """A search has changed `tools[]`; bind what likely follows what it found, and what was called last.

        `best` are the tools that searches found first: as a rule they are called next.
        """
        if not self._preloads or not self.is_warm:
            return
        left = _MOST_AHEAD
        for after in dict.fromkeys(filter(None, (*best, self._state.inertia.called))):
            found = self._found(after)
            bound = self._bind(after, self._likely(found), left)
            left -= len(bound)
            if bound:
                self._tell(after, found, bound)

    @property
    def is_warm(self) -> bool:
        """Whether predictions are wanted, and enough was seen to make them."""
        return self._settings.preload != "off" and self.graph.tasks >= self._settings.warm_up

    @property
    def _preloads(self) -> bool:
        """Whether tools may be bound ahead: only where the model reads what is bound in `tools[]`."""
        settings = self._live.settings
        is_read = self._binder.delivery in ("append", "rewrite")
        policy = settings.binding.policy
        return settings.inertia.preload == "with_search" and is_read and policy in ("keep", "bounded")

    @property
    def _settings(self) -> InertiaSettings:
        return self._live.settings.inertia

    @property
    def _state(self) -> SessionState:
        return self._session.state

    @property
    def _aging(self) -> Aging:
        return Aging(self._clock.now(), self._settings.half_life_days)

    def _is_new(self, tool_id: str) -> bool:
        """Whether a call would be the first use of a permitted tool."""
        return tool_id in self._state.tools and tool_id not in self._state.used

    def _found(self, after: str) -> list[Successor]:
        return [one for one in self.graph.after(after, self._aging) if self._is_new(one.tool)]

    def _likely(self, found: Sequence[Successor]) -> list[Successor]:
        """Those that are likely enough and wait for a search, without what could not be called now."""
        tools = self._state.tools
        waiting = [one for one in found if tools[one.tool].binding is Binding.DEFERRED]
        likely = [one for one in waiting if is_likely(one)]
        unmet = self._binder.unmet() if likely else {}
        met = (one for one in likely if one.tool not in unmet)
        tools_now = ((one, self._binder.current(one.tool)) for one in met)
        return [one for one, tool in tools_now if tool is not None and self._breakers.is_callable(tool)]

    def _bind(self, after: str, chosen: Sequence[Successor], most: int) -> tuple[str, ...]:
        """Bind the first of these that have room, and return them."""
        fitting = self._binder.context.fitting([one.tool for one in chosen[:most]])
        for one in chosen[: len(fitting)]:
            seen = f"{percent(one.probability)}, at least {percent(one.low)}"
            self._binder.context.bind_ahead(one.tool, f"follows {after}: {seen}")
        return fitting

    def _tell(self, after: str, found: Sequence[Successor], bound: tuple[str, ...]) -> None:
        guesses = tuple(Guess(one.tool, one.probability, one.low, one.count) for one in found[:TOP])
        self._session.emit(
            NextPredicted(
                after=after,
                predicted=guesses,
                threshold=MIN_SHARE,
                preloaded=bound,
                persona=self.persona,
                tasks=self.graph.tasks,
            )
        )
