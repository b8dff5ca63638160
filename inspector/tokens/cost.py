"""The one simulator of cost: a plan under a delivery as requests, through a prompt cache, added up.

Each delivery turns a plan into requests (`planned_requests`); the requests go through a prompt cache, and its
charges are summed, in tokens and in dollars.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import accumulate

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.budget import HOUR_SECONDS, Prices
from inspector.core.prompt_cache import (
    EXPIRED,
    FIVE_MINUTES,
    UNCACHED,
    Block,
    CacheTerms,
    Charge,
    PromptCache,
    breakpoints,
)
from inspector.tokens.plan import Plan, PlannedCall

# Providers read a request in the order `tools`, system prompt, conversation. So a change in `tools` means
# paying again for everything after it.


class Delivery(StrEnum):
    """How tools reach the model.

    STATIC binds every tool in every call. REWRITE sends found tools in catalog order, so a new tool moves
    others; APPEND sends them at the end of `tools`. With CALL_TOOL `tools` never changes: search results hold
    the definitions, which for the cache is the same as a provider's references to deferred tools; with CODE
    they are declarations, and of a script's results the model reads the last. GATE selects `tools` for every
    turn and keeps summaries in the system prompt.
    """

    STATIC = "static"
    REWRITE = "rewrite"
    APPEND = "append"
    CALL_TOOL = "call_tool"
    CODE = "code"
    GATE = "gate"

    @property
    def searches(self) -> bool:
        """Whether the model has to search for tools."""
        return self not in (Delivery.STATIC, Delivery.GATE)


class CachePreset(Struct, frozen=True):
    """Named terms. `source` says where they come from, `note` what they leave out."""

    name: str
    terms: CacheTerms
    source: str
    note: str = ""


_ANTHROPIC = "minimum prefix: 1,024 tokens for most models, 2,048 or 4,096 for some"
# The multipliers come from the providers' own documentation; for a model with known prices, `Prices.terms`
# has its exact ones.
PRESETS = (
    CachePreset(
        "Anthropic, 5 minutes",
        CacheTerms(write=1.25, read=0.1, marked=True),
        "Anthropic's documentation, Prompt caching: pricing, cache lifetime",
        _ANTHROPIC,
    ),
    CachePreset(
        "Anthropic, 1 hour",
        CacheTerms(write=2.0, read=0.1, ttl_seconds=HOUR_SECONDS, marked=True),
        "Anthropic's documentation, Prompt caching: 1-hour cache duration",
        _ANTHROPIC,
    ),
    CachePreset(
        "OpenAI, gpt-5",
        CacheTerms(write=1.0, read=0.1),
        "OpenAI's documentation, Prompt caching, and its price list",
        "unused prefixes expire after 5 to 10 minutes; assumes 5 minutes",
    ),
    CachePreset(
        "Gemini 2.5, implicit",
        CacheTerms(write=1.0, read=0.1),
        "Google's documentation, Context caching: implicit caching",
        "no guaranteed hits, no documented lifetime; assumes 5 minutes; 2.5 Pro has a higher minimum",
    ),
    CachePreset("no cache", UNCACHED, "every token at full price"),
)


class PlannedRequest(Struct, frozen=True):
    """A request under one delivery: `call` is the number of the plan's model call, from 1.

    `bound` holds the ids of the tools in `tools` in order, if they can change. `marks` are the positions of
    the blocks that it marks for a prompt cache, as Toolsight does. `at` is in seconds. Of the input,
    `definitions` tokens describe tools before the conversation starts (manifest and summaries are among
    them), and `searches` tokens are searches and their results in the conversation.
    """

    call: int
    at: float
    blocks: tuple[Block, ...]
    marks: tuple[int, ...]
    bound: tuple[str, ...]
    output: int
    anew: bool
    definitions: int
    searches: int


def planned_requests(plan: Plan, delivery: Delivery) -> list[PlannedRequest]:
    """The requests of a session. A delivery without searches skips calls that only follow one."""
    front = _Front(plan, delivery)
    history: list[Block] = []
    requests: list[PlannedRequest] = []
    at = 0.0
    searches = before = written = 0
    for number, call in enumerate(plan.calls, start=1):
        at += call.seconds
        if call.only_searched and not delivery.searches and requests:
            # Without a search, the previous call already gives this call's answer.
            requests[-1] = replace(requests[-1], output=call.output)
            continue
        if call.scripted and delivery is Delivery.CODE and requests:
            # The script goes on with this answer's calls; the results before are not read.
            written += min(call.growth, plan.calls[number - 2].output)
            requests[-1] = replace(requests[-1], output=requests[-1].output + call.output)
            continue
        front.move(call)
        if call.anew:
            history, searches, before = [], 0, 0
        search = call.search if delivery.searches else 0
        search += front.in_results(call)
        searches += search
        history.append(Block(f"call {number}", call.growth + search + written, "messages"))
        written = 0
        requests.append(
            PlannedRequest(
                call=number,
                at=at,
                blocks=(*front.blocks, *history),
                marks=front.marks(len(history), before),
                bound=front.bound,
                output=call.output,
                anew=call.anew,
                definitions=front.definitions,
                searches=searches,
            )
        )
        before = len(history)
    return requests


class _Front:
    """The part of a request before the conversation: tool definitions and the system prompt."""

    def __init__(self, plan: Plan, delivery: Delivery) -> None:
        self._delivery = delivery
        self._tokens = {tool.id: tool.tokens for tool in plan.tools}
        self._share = plan.overhead.declared if delivery is Delivery.CODE else 1.0
        self._order = {tool.id: position for position, tool in enumerate(plan.tools)}
        self._pinned = tuple(tool.id for tool in plan.tools if tool.pinned)
        self._found = dict.fromkeys(self._pinned)
        self._fresh: tuple[str, ...] = ()
        self._meta = _meta(plan, delivery)
        self._prompt = plan.overhead.system
        pool = plan.overhead.pool if delivery is Delivery.GATE else 0
        self._system = Block("system", self._prompt + pool, "system")
        self.bound: tuple[str, ...] = ()
        self.blocks: tuple[Block, ...] = (*self._meta, self._system)

    @property
    def definitions(self) -> int:
        """Tokens of everything that describes tools here, the summaries in the system prompt included."""
        return sum(block.tokens for block in self.blocks) - self._prompt

    def move(self, call: PlannedCall) -> None:
        """Move on to the request of a call."""
        new = dict.fromkeys(id_ for id_ in call.discovered if id_ in self._tokens and id_ not in self._found)
        self._fresh = tuple(new)
        self._found |= new
        bound = self._bound(call)
        if bound != self.bound:
            self.bound = bound
            tools = (Block(f"tool {id_}", self._tokens[id_], f"tools: {id_}") for id_ in bound)
            self.blocks = (*self._meta, *tools, self._system)

    def in_results(self, call: PlannedCall) -> int:
        """Tokens of the definitions in search results; a conversation that is cut down keeps them."""
        if self._delivery not in (Delivery.CALL_TOOL, Delivery.CODE):
            return 0
        ids = [id_ for id_ in self._found if id_ not in self._pinned] if call.anew else self._fresh
        return sum(round(self._tokens[id_] * self._share) for id_ in ids)

    def marks(self, messages: int, before: int) -> tuple[int, ...]:
        """The marked blocks of a request with so many messages, the first `before` of them sent before."""
        loaded = (place for place, id_ in enumerate(self.bound) if id_ not in self._pinned)
        steady = len(self._meta) + next(loaded, len(self.bound))
        tools = len(self._meta) + len(self.bound)
        marked = breakpoints(
            tools=tools, steady=steady, system=True, messages=messages, before=before, ttl=FIVE_MINUTES
        )
        return marked.blocks(tools, system=True)

    def _bound(self, call: PlannedCall) -> tuple[str, ...]:
        match self._delivery:
            case Delivery.STATIC:
                return ()
            case Delivery.CALL_TOOL | Delivery.CODE:
                return self._pinned
            case Delivery.APPEND:
                return tuple(self._found)
            case Delivery.REWRITE:
                return self._in_order(self._found)
            case Delivery.GATE:
                return self._in_order({*self._pinned, *(i for i in call.gated if i in self._tokens)})

    def _in_order(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(ids, key=self._order.__getitem__))


def _meta(plan: Plan, delivery: Delivery) -> tuple[Block, ...]:
    """The constant part of `tools`: every definition, or what searches need if any tool is deferred."""
    overhead = plan.overhead
    if delivery is Delivery.STATIC:
        return (Block("every tool", plan.tool_tokens, "tools"),)
    if not delivery.searches or all(tool.pinned for tool in plan.tools):
        return ()
    search = Block("search_tools", overhead.meta + overhead.manifest, "tools: search_tools")
    proxy = {Delivery.CALL_TOOL: overhead.call_tool, Delivery.CODE: overhead.run_script}.get(delivery)
    return (search,) if proxy is None else (search, Block(delivery, proxy, f"tools: {delivery}"))


_NAMED = 6


class RequestCost(Struct, frozen=True):
    """The cost of one request. `billed` is in input tokens at full price; `dollars` is None without prices.

    `definitions` and `searches` are the tokens that tools take of its input, see `PlannedRequest`.
    `broke` says which part of the previous request the cache could not reuse, and why; `again` counts the
    tokens cached by the previous request that had to be sent at full price, or written, again.
    """

    call: int
    charge: Charge
    billed: float
    output: int
    dollars: float | None = None
    broke: str = ""
    again: int = 0
    definitions: int = 0
    searches: int = 0


class SessionCost(Struct, frozen=True):
    """The cost of a session under one delivery and the terms of one cache."""

    delivery: Delivery
    terms: CacheTerms
    requests: tuple[RequestCost, ...]

    @property
    def definitions(self) -> int:
        """Tokens of definitions, manifest and summaries over all requests."""
        return sum(request.definitions for request in self.requests)

    @property
    def discovery_tokens(self) -> int:
        """The same with the searches and their results: all input because of tools."""
        return self.definitions + sum(request.searches for request in self.requests)

    @property
    def raw(self) -> int:
        """All input tokens sent."""
        return sum(request.charge.tokens for request in self.requests)

    @property
    def read(self) -> int:
        return sum(request.charge.read for request in self.requests)

    @property
    def written(self) -> int:
        return sum(request.charge.written for request in self.requests)

    @property
    def plain(self) -> int:
        return sum(request.charge.plain for request in self.requests)

    @property
    def billed(self) -> float:
        """The cost of the input in input tokens at full price."""
        return sum(request.billed for request in self.requests)

    @property
    def output(self) -> int:
        return sum(request.output for request in self.requests)

    @property
    def dollars(self) -> float | None:
        """US dollars for input and output; None without prices."""
        costs = [request.dollars for request in self.requests if request.dollars is not None]
        return sum(costs) if len(costs) == len(self.requests) and costs else None

    @property
    def worth(self) -> float:
        """What deliveries are ordered by: US dollars, or billed input tokens without prices."""
        return self.billed if self.dollars is None else self.dollars

    @property
    def hit_rate(self) -> float:
        """The share of the input read from the cache (0 to 1)."""
        return self.read / self.raw if self.raw else 0.0

    @property
    def breaks(self) -> tuple[RequestCost, ...]:
        """The requests that could not reuse everything cached."""
        return tuple(request for request in self.requests if request.broke)


class DeliveryCost(Struct, frozen=True):
    """The cost of a plan under one delivery, with and without a prompt cache."""

    delivery: Delivery
    cached: SessionCost
    uncached: SessionCost


def compare(plan: Plan, terms: CacheTerms, prices: Prices | None = None) -> tuple[DeliveryCost, ...]:
    """The cost of the plan under every delivery, in the order of `Delivery`."""
    costs = []
    for delivery in Delivery:
        rows = planned_requests(plan, delivery)
        cached, uncached = (_cost(delivery, rows, each, prices) for each in (terms, UNCACHED))
        costs.append(DeliveryCost(delivery, cached, uncached))
    return tuple(costs)


def session_cost(
    plan: Plan, delivery: Delivery, terms: CacheTerms, prices: Prices | None = None
) -> SessionCost:
    """The cost of the plan under one delivery. `prices` give the price of a token; the cache uses `terms`."""
    return _cost(delivery, planned_requests(plan, delivery), terms, prices)


def _cost(
    delivery: Delivery, rows: Sequence[PlannedRequest], terms: CacheTerms, prices: Prices | None
) -> SessionCost:
    cache = PromptCache(terms)
    costs: list[RequestCost] = []
    for before, row in zip((None, *rows), rows, strict=False):
        charge = cache.send(row.blocks, row.at, row.marks if terms.marked else None)
        broke, again = "", 0
        if charge.broke and before is not None:
            broke, again = _why(charge, before, row), _again(charge, before, row)
        costs.append(
            RequestCost(
                call=row.call,
                charge=charge,
                billed=charge.billed(terms),
                output=row.output,
                dollars=None if prices is None else prices.cost(charge, terms, row.output),
                broke=broke,
                again=again,
                definitions=row.definitions,
                searches=row.searches,
            )
        )
    return SessionCost(delivery, terms, tuple(costs))


def _why(charge: Charge, before: PlannedRequest, row: PlannedRequest) -> str:
    """What broke the cache, on one line."""
    if charge.broke.startswith(EXPIRED):
        return charge.broke
    if before.bound == row.bound:
        return "the conversation was shortened" if row.anew else charge.broke
    added = [id_ for id_ in row.bound if id_ not in before.bound]
    removed = [id_ for id_ in before.bound if id_ not in row.bound]
    if len(added) + len(removed) > _NAMED:
        return f"tools[]: +{len(added)} and -{len(removed)} tools"
    return "tools[]: " + ", ".join([*(f"+{id_}" for id_ in added), *(f"-{id_}" for id_ in removed)])


def _again(charge: Charge, before: PlannedRequest, row: PlannedRequest) -> int:
    """Tokens that were in the previous request but not read from the cache."""
    had = {block.text for block in before.blocks}
    ends = accumulate(block.tokens for block in row.blocks)
    return sum(
        block.tokens
        for block, end in zip(row.blocks, ends, strict=True)
        if end > charge.read and block.text in had
    )
