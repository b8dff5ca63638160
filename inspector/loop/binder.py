"""Holds the catalog, decides which tools are bound, and builds the request that carries them."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from inspector.config.predicate import Facts
from inspector.core.budget import Budget
from inspector.core.error import ToolsightError
from inspector.core.events import BudgetMeasured, EvictionCause, ToolEvicted
from inspector.core.message import Message, ModelReply, ModelRequest, answer_texts
from inspector.core.ports import Clock
from inspector.core.prompt_cache import EXPIRED, Breakpoints, CacheTerms, Charge, PromptCache, breakpoints
from inspector.core.server import ServerPhase
from inspector.core.session import Binding, SessionState, ToolState
from inspector.core.settings import SentDelivery
from inspector.core.stream import Session
from inspector.core.tool import Catalog, Tool
from inspector.loop.catalog import CatalogNews, build_catalog
from inspector.loop.gate import Gate, Preconditions
from inspector.loop.tool_context import ToolContext
from inspector.search.answer.retrieval import Live
from inspector.tokens.accounting import Accounting
from inspector.tokens.delivery import (
    UNCHANGED,
    DefinitionLoader,
    Difference,
    SentTools,
    effective_delivery,
    is_native,
    missing_definitions,
    offers_before_message,
    steady_entries,
    system_text,
    tools_array,
    with_offer,
)
from inspector.tokens.synthetic import has_proxy

# What becomes of bound tools when the catalog changes: held, evicted with the cause, or bound as before.


def held_ids(state: SessionState, away: Catalog) -> tuple[str, ...]:
    """The tools to hold: those of servers that are away (`away` lists their tools) and have a history.

    Any other tool of these servers has nothing to keep: it is the same once its server is back.
    """
    known = (*state.tools.values(), *state.held.values())
    return tuple(tool.id for tool in known if tool.id in away.by_id and tool.has_history)


def departures(
    state: SessionState,
    catalog: Catalog,
    *,
    held: Collection[str],
    hidden: Collection[str],
    told_once: bool,
    permits: Callable[[str], bool] = lambda _tool_id: True,
) -> Iterator[ToolEvicted]:
    """The evictions of loaded tools that a new catalog causes, each with its cause.

    `hidden` are the tools that the toolset does not permit, and `permits` says of a tool whether its user
    may see it still. With `told_once` the model reads
    a definition only in a search result, not in each request: a tool that changed has to be found again.
    """
    for tool_id in state.places:
        tool = state.known(tool_id)
        if tool is None or tool_id in held:
            continue
        if catalog.get(tool_id) is None:
            cause: EvictionCause = "toolset" if tool_id in hidden else "gone"
            yield _evicted(tool, cause if permits(tool_id) else "access")
        elif told_once and has_changed(state, tool):
            yield _evicted(tool, "changed")


def has_changed(state: SessionState, tool: ToolState) -> bool:
    """Whether its server lists another definition now than the one that was in the catalog."""
    return tool.definition not in ("", state.listed.get(tool.id))


def _evicted(tool: ToolState, cause: EvictionCause) -> ToolEvicted:
    reasons = {
        "gone": f"{tool.server} no longer lists it",
        "toolset": "the toolset does not permit it",
        "access": "it is not available to you any more",
        "changed": f"{tool.server} changed it: the search result that the model read is out of date",
    }
    return ToolEvicted(tool.id, reasons[cause], cause)


# The tools of servers that are away, and how to report them.

_ANOTHER = "Use another tool, or answer without it."


class AwayTools:
    """The permitted tools of servers that are away, as they were listed last."""

    def __init__(self, session: Session) -> None:
        self.catalog = Catalog()
        self._session = session

    def named(self, name: str, connected: Catalog) -> Tool | None:
        """The only tool that `name` can mean; None if a connected one has the name."""
        named = () if connected.named(name) else self.catalog.named(name)
        return named[0] if len(named) == 1 else None

    def absence(self, server: str) -> str:
        """That a server is away, and why, in words."""
        state = self._session.state.servers.get(server)
        if state is not None and state.phase is ServerPhase.FAILED:
            return f"the server {server} is away (failed: {state.reason})"
        stopped = state is not None and state.phase is ServerPhase.STOPPED
        return f"the server {server} is away ({'stopped' if stopped else 'connecting'})"

    def refusal(self, tool: Tool) -> str:
        """The answer to a model that calls such a tool."""
        known = self._session.state.known(tool.id)
        held = known is not None and known.held_as in (Binding.LOADED, Binding.PINNED)
        later = " It can be called again, without a search, once its server is back." if held else ""
        return f"{tool.id} cannot be called now: {self.absence(tool.server)}.{later} {_ANOTHER}"

    def absences(self) -> Mapping[str, str]:
        """What a search says of each server and its tools, by every name they go by."""
        told: dict[str, str] = {}
        for tool in self.catalog.tools:
            absence = self.absence(tool.server)
            told.update(dict.fromkeys((tool.name, tool.wire_name, tool.id), f"No {tool.id} now: {absence}."))
        for server in self.catalog.servers:
            told[server] = f"No tool of {server} can be found now: {self.absence(server)}."
        return told


_NO_TEXTS: Mapping[str, str] = {}


# Long because everything that decides what a request holds meets here.
class Binder:
    """Holds the catalog and decides before every model call which tools are bound."""

    def __init__(self, session: Session, live: Live, clock: Clock, accounting: Accounting) -> None:
        self.catalog = Catalog()
        self.away = AwayTools(session)
        self.preconditions = Preconditions(live, {})
        self.static_tokens = 0
        self._session = session
        self._live = live
        self._accounting = accounting
        self._loader = DefinitionLoader(self.catalog)
        self._clock = clock
        self._sent = SentTools(
            lambda text: accounting.meter.text(text), lambda entry: accounting.meter.entry(entry).text
        )
        self.news = CatalogNews(session, live, lambda text: accounting.meter.text(text))
        self._said: tuple[Message, ...] = ()
        self._cache: PromptCache | None = None
        self._gate = Gate(clock)
        self.context = ToolContext(session, clock, live, self._loader, accounting)

    def rebuild(
        self,
        connected: Sequence[Tool],
        summaries: Mapping[str, str],
        away: Sequence[Tool] = (),
        *,
        instructions: Mapping[str, str] = _NO_TEXTS,
    ) -> None:
        """Rebuild the catalog; hold the tools of servers that are `away`, and evict others that left it."""
        live, state = self._live, self._session.state
        audience = live.audience
        self.away.catalog = Catalog(audience.of(away))
        held = held_ids(state, self.away.catalog)
        built = build_catalog(
            connected,
            live.configuration,
            live.settings,
            toolset=live.toolset,
            sight=live.sight,
            summaries=summaries,
            instructions=instructions,
            meter=self._accounting.meter,
            held=held,
        )
        self.catalog = built.catalog
        self._loader.use(built.catalog, self._accounting.meter.features.dialect)
        self.static_tokens = built.event.static_tokens
        offered = (*connected, *away)
        hidden = {tool.id for tool in offered if not audience.permits(tool)}
        told_once = has_proxy(self.delivery) and not offers_before_message(live.settings.binding)
        for evicted in departures(
            state, built.catalog, held=held, hidden=hidden, told_once=told_once, permits=live.sight.permits
        ):
            self._session.emit(evicted)
        gate = live.settings.gate.ranker if live.settings.binding.policy == "gate" else ""
        tags = {spec.name: spec.tags for spec in live.configuration.servers}
        phrases = {spec.name: spec.phrases for spec in live.configuration.servers}
        live.retrieval.update(
            self.catalog.tools, summaries, instructions, tags=tags, phrases=phrases, gate_ranker=gate
        )
        self._session.emit(self.news.rebuilt(built, {tool.id: tool for tool in offered}))
        self.context.trim()

    def require(self, name: str) -> Tool:
        """The only tool called `name`. Raises ToolsightError, also if its server is away."""
        tool = self.away.named(name, self.catalog)
        if tool is not None:
            hint = "Reconnect it and try again."
            raise ToolsightError(f"{tool.id} cannot be used: {self.away.absence(tool.server)}", hint=hint)
        return self.catalog.require(name)

    def current(self, tool_id: str) -> Tool | None:
        """The tool with that id as its server lists it now; None if the catalog has none."""
        return self.catalog.get(tool_id)

    def only(self, name: str) -> Tool | None:
        """The only tool of the catalog that `name` can mean."""
        named = self.catalog.named(name)
        return named[0] if len(named) == 1 else None

    def before_call(self, messages: Sequence[Message]) -> None:
        """Evict tools as needed or, with the gate, select the tools for this call."""
        settings = self._live.settings
        if settings.binding.policy != "gate":
            self.context.trim()
            return
        state = self._session.state
        self._session.emit(
            self._gate.apply(
                self._live.retrieval.rankers,
                messages,
                settings.gate,
                pinned=frozenset(state.pinned),
                unmet=self.unmet(),
                tokens=lambda tool_id: state.tools[tool_id].tokens,
                call=state.model_calls + 1,
                pool_tokens=state.pool_tokens,
            )
        )

    def unmet(self) -> Mapping[str, Sequence[str]]:
        """The preconditions that do not hold, by tool."""
        return self.preconditions.closed(self.catalog.by_id, self._facts()) if self._has_rules else {}

    def unmet_of(self, tool_id: str) -> Sequence[str]:
        """The preconditions of one tool that do not hold."""
        return self.preconditions.unmet(tool_id, self._facts()) if self._has_rules else ()

    @property
    def _has_rules(self) -> bool:
        return bool(self._live.settings.access.preconditions)

    def request(self, messages: tuple[Message, ...], *, think: bool = False) -> ModelRequest:
        """Build the request exactly as sent to the model."""
        settings, state, delivery = self._live.settings, self._session.state, self.delivery
        missing: tuple[str, ...] = ()
        if is_native(delivery):
            missing = missing_definitions(self.catalog, state.load_order, messages, self._loader)
        tools = tools_array(self.catalog, state, delivery, self._loader, missing)
        system = system_text(settings.chat.system_prompt, state)
        if offers_before_message(settings.binding):
            offered = map(self.catalog.get, state.load_order)
            messages = with_offer(messages, [tool for tool in offered if tool is not None], delivery)
        return ModelRequest(
            system=system,
            messages=messages,
            tools=tools,
            max_output=settings.budget.output_reserve,
            think=think,
            deferral=self._live.features.deferral if is_native(delivery) else "",
            deferred=self._deferred(missing) if delivery == "tool_reference" else (),
            breakpoints=self._breakpoints(system, messages, tools),
        )

    @property
    def delivery(self) -> SentDelivery:
        """The current delivery."""
        return effective_delivery(self._live.settings.binding, self._live.features)

    def _deferred(self, bound: Sequence[str]) -> tuple[dict[str, Any], ...]:
        """The definitions that the provider may load: every deferred tool that is not in the array."""
        waiting = self.catalog.deferred_ids.difference(bound)
        return self.definitions([tool.id for tool in self.catalog.tools if tool.id in waiting])

    def definitions(self, tool_ids: Sequence[str]) -> tuple[dict[str, Any], ...]:
        """The definitions of these tools, as sent."""
        return tuple(self._loader.definitions(tool_ids))

    def _breakpoints(
        self, system: str, messages: tuple[Message, ...], tools: Sequence[dict[str, Any]]
    ) -> Breakpoints | None:
        ttl = self._accounting.ttl
        if ttl is None:
            return None
        before = len(self._said)
        return breakpoints(
            tools=len(tools),
            steady=steady_entries(self.catalog, self._session.state.load_order, tools),
            system=bool(system),
            messages=len(messages),
            before=before if messages[:before] == self._said else 0,
            ttl=ttl,
        )

    def sent(self, request: ModelRequest) -> Difference:
        """Record a request as sent and return how its tools differ from the previous ones."""
        self._said = request.messages
        self.news.sent()
        return self._sent.send(request.tools)

    def charge(self, request: ModelRequest, tools: Difference) -> tuple[Charge, CacheTerms]:
        """Record a request as sent and return how a prompt cache charges it, on the model's terms.

        If its `tools` differ from the previous ones, they are given as the reason the cache broke.
        """
        terms = self._accounting.terms
        if self._cache is None or self._cache.terms != terms:
            self._cache = PromptCache(terms)
        marks = None
        if self._live.features.breakpoints:
            marked = request.breakpoints or Breakpoints()
            marks = marked.blocks(len(request.tools), system=bool(request.system))
        blocks = self._accounting.meter.blocks(request)
        charge = self._cache.send(blocks, self._clock.now(), marks)
        if charge.broke and not charge.broke.startswith(EXPIRED) and tools.change != UNCHANGED:
            charge = replace(charge, broke=f"tools[]: {tools.change}")
        return charge, terms

    def measure(self, messages: tuple[Message, ...]) -> None:
        """Emit the budget of the next request."""
        self._session.emit(BudgetMeasured(self.budget(self.request(messages))))

    def size(self, message: Message) -> int:
        """The tokens that a message adds to a conversation that continues after it."""
        return self._accounting.meter.message(message)

    def dollars(self, tokens: int) -> float | None:
        """What so many input tokens cost at most, without a cache; None for a model without prices."""
        prices = self._accounting.prices()
        return prices.input * tokens if prices is not None else None

    def answer(self, reply: ModelReply) -> int:
        """The tokens of an answer, counted as its texts."""
        return sum(map(self._accounting.meter.text, answer_texts(reply.text, reply.tool_calls)))

    def budget(self, request: ModelRequest) -> Budget:
        """The budget of a request."""
        state = self._session.state
        meter = self._accounting.meter
        return meter.measure(
            request,
            self.static_tokens,
            pool=state.pool,
            manifest=state.manifest,
            instructions=state.instructions,
        )

    def _facts(self) -> Facts:
        state = self._session.state
        scopes = frozenset(self._live.settings.access.scopes)
        return Facts(scopes, state.outputs, frozenset(state.milestones))
