"""What reductions of a request do to the prompt cache and to the answers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random

from msgspec import Struct
from msgspec.structs import replace

from docs.papers.catalog_size import (
    CALIBRATED,
    SIZES,
    FirstCall,
    first_call,
    meter_of,
    part_of,
    reduction,
    skipped_table,
)
from docs.papers.discovery import Discovery
from docs.papers.report import Section, Table, percent_down
from docs.papers.source import NamedCatalog, Source, Steps, columns, recorded, told
from docs.papers.task import Task, Turn
from docs.papers.testbed import generated
from inspector.core.number import percent
from inspector.core.prompt_cache import Block, CacheTerms, PromptCache
from inspector.core.settings import DiscoverySettings
from inspector.loop.catalog import STARTS_AT_TOOLS, decide
from inspector.tokens.measure import BudgetMeter

# A request is a list of blocks in the order in which providers read them: tool definitions, system prompt,
# messages. A session is one long task: every turn adds the same number of tokens to the conversation.
SECONDS_BETWEEN = 20.0
TURN_TOKENS = 500
_SAID_TOKENS = 50
_RESULT_TOKENS = 200
Blocks = list[Block]
_FIRST: Mapping[str, int] = {}


class Layout(Struct, frozen=True):
    """The totals of a session's requests. `billed` is in input tokens at full price."""

    name: str
    requests: int
    tokens: int
    read: int
    billed: float

    @property
    def hit_rate(self) -> float:
        """The share of all input tokens that came from the cache."""
        return self.read / self.tokens if self.tokens else 0.0


class Session(Struct, frozen=True):
    """What layouts are made of: each definition's tokens by tool, the system prompt and the pool."""

    tokens: Mapping[str, int]
    system: int
    pool: int
    turns: Sequence[Turn]

    def definitions(self, tool_ids: Iterable[str], versions: Mapping[str, int] = _FIRST) -> Blocks:
        """One block per definition; `versions` names those that have changed."""
        return [
            Block(f"{tool_id}#{versions.get(tool_id, 0)}", self.tokens[tool_id], "tools")
            for tool_id in tool_ids
        ]

    def prompt(self, *, pool: bool) -> Blocks:
        blocks = [Block("system", self.system, "system")]
        return [*blocks, Block("pool", self.pool, "pool")] if pool else blocks

    def before(self, turn: int) -> Blocks:
        """The conversation before turn `turn`: user messages, tool results and answers."""
        return [block for earlier in range(turn) for block in (*self.within(earlier), self.answer(earlier))]

    def within(self, turn: int) -> Blocks:
        """The turn's user message, and what each step returned."""
        results = [Block(f"{turn} result {n}", _RESULT_TOKENS, "history") for n in range(self.steps(turn))]
        return [Block(f"{turn} {self.turns[turn].text}", _SAID_TOKENS, "history"), *results]

    def answer(self, turn: int) -> Block:
        """The turn's answer, which has the rest of its tokens."""
        rest = TURN_TOKENS - _SAID_TOKENS - _RESULT_TOKENS * self.steps(turn)
        return Block(f"{turn} answer", max(rest, 0), "history")

    def steps(self, turn: int) -> int:
        return len(self.turns[turn].steps)

    def requests(self, turn: int, head: Blocks) -> Iterable[Blocks]:
        """A turn's requests: one per step, and one for the answer. `head` comes before the user message."""
        said = self.within(turn)
        for shown in range(1, len(said) + 1):
            yield [*head, *said[:shown]]


def measured(name: str, requests: Iterable[Blocks], terms: CacheTerms | None = None) -> Layout:
    """Send the requests in order through an empty cache."""
    terms = terms or CacheTerms()
    cache, charges = PromptCache(terms), []
    for number, blocks in enumerate(requests):
        charges.append(cache.send(blocks, number * SECONDS_BETWEEN))
    return Layout(
        name,
        len(charges),
        sum(charge.tokens for charge in charges),
        sum(charge.read for charge in charges),
        sum(charge.billed(terms) for charge in charges),
    )


def full_schema(session: Session, changing: Callable[[int], str] | None = None) -> Iterable[Blocks]:
    """Requests with all definitions; `changing` names the one that changes in a turn."""
    changed = dict[str, int]()
    for turn in range(len(session.turns)):
        if changing is not None and turn:
            changed[changing(turn)] = turn
        tools = session.definitions(session.tokens, changed)
        yield from session.requests(turn, [*tools, *session.prompt(pool=False), *session.before(turn)])


def at_random(session: Session, seed: int = 0) -> Callable[[int], str]:
    """A function that picks a random tool for each turn."""
    random = Random(f"update {seed}")
    ids = list(session.tokens)
    return lambda turn: random.choice(ids)  # noqa: ARG005


def paper_layout(session: Session, active: Callable[[str], Sequence[str]]) -> Iterable[Blocks]:
    """Requests with the pool in the prefix and the turn's schemas right before the user's message."""
    for turn, said in enumerate(session.turns):
        schemas = session.definitions(active(said.text))
        yield from session.requests(turn, [*session.prompt(pool=True), *session.before(turn), *schemas])


def native_layout(session: Session, active: Callable[[str], Sequence[str]]) -> Iterable[Blocks]:
    """Requests with the turn's schemas where APIs put them: in `tools`, before everything else."""
    for turn, said in enumerate(session.turns):
        schemas = session.definitions(active(said.text))
        yield from session.requests(turn, [*schemas, *session.prompt(pool=True), *session.before(turn)])


def discovery_layout(session: Session, discovery: Discovery, task: Task, proxy: int = 0) -> Iterable[Blocks]:
    """Requests with delivery `append`: the meta-tool, then the definitions in load order.

    With `proxy`, the tokens of `call_tool`, the delivery is `call_tool`: no other definition is sent. Every
    model call is a request, and search results stay in the conversation.
    """
    meta = Block("meta-tools", discovery.meta + proxy, "meta")
    history: Blocks = []
    spent = 0
    for turn, contexts in enumerate(discovery.calls(task)[: len(session.turns)]):
        said, *results = session.within(turn)
        history.append(said)
        for left, context in zip(reversed(range(len(contexts))), contexts, strict=True):
            if context.traffic > spent:
                history.append(Block(f"search {context.traffic}", context.traffic - spent, "searches"))
                spent = context.traffic
            if not left:
                history += results
            tools = [] if proxy else session.definitions(context.bound)
            yield [meta, *tools, *session.prompt(pool=False), *history]
        history.append(session.answer(turn))


# A production catalog before and after intent-based loading, and the factor as printed.
BEFORE, AFTER, FACTOR = 77_000, 8_700, 9
# MCP-Zero: the cut it reports for APIBank, and its own catalog in tools and tokens.
MCP_ZERO_CUT = 0.98
MCP_ZERO_TOOLS, MCP_ZERO_TOKENS = 3_000, 248_000
# What the paper says about its meta-tool, and from how many tools discovery is worth it.
META_TOOL = 120
SMALL = STARTS_AT_TOOLS
# Tokens of a catalog of a hundred tools, according to the paper.
HUNDRED = (10_000, 60_000)
_GENERATED = 200


def token_reduction(source: Source, steps: Steps) -> Section:
    """The published factors beside ours, and the catalog size from which discovery is cheaper.

    Raises ToolsightError and Stopped.
    """
    meter = meter_of(source.counter)
    steps("counting the catalogs")
    others = source.others()
    made = generated(_GENERATED, meter)
    catalogs = [source.demo(), *others, replace(made, name=f"calibration: {made.name}")]
    tables = [_factors(catalogs, meter, steps), _meta(meter), _break_even(catalogs, meter, steps), _rule()]
    if not others:
        tables.append(skipped_table())
    return Section(
        id="reduction",
        title="Reduction as a factor",
        source="layered composition, its introduction and layer 3; MCP-Zero as cited there",
        measured=(
            f"tokens of tools as compact JSON ({told(source.counter.tokenizer)}), meta-tool and manifest "
            "counted, nothing always included, default settings. A factor belongs to a catalog and grows "
            "with it, so ours stand beside the published ones to show the form, not to beat them"
        ),
        tables=tuple(tables),
        findings=findings(),
        recorded=recorded("what all runs, and a solved task, cost beside static binding"),
    )


def findings() -> tuple[str, ...]:
    """What the published numbers leave unclear, computed from them."""
    each = MCP_ZERO_TOKENS / MCP_ZERO_TOOLS
    return (
        f"{BEFORE:,} tokens to {AFTER:,} is a factor of {BEFORE / AFTER:.2f}, printed as {FACTOR}; the paper "
        "does not say how many tools that catalog has, or whether searches are counted.",
        f"{MCP_ZERO_TOKENS:,} tokens over about {MCP_ZERO_TOOLS:,} tools are "
        f"{each:.0f} per tool, {'below' if each < HUNDRED[0] / 100 else 'within'} the paper's "
        f"{HUNDRED[0] / 100:.0f} to {HUNDRED[1] / 100:.0f}; and its {percent(MCP_ZERO_CUT)} are for another "
        "benchmark (APIBank), not for this catalog.",
    )


def _factors(catalogs: Sequence[NamedCatalog], meter: BudgetMeter, steps: Steps) -> Table:
    headers = columns("catalog | tools | before | first call | factor | cut | after a search | factor | cut")
    published = (
        ("published: intent-based loading", "–", BEFORE, AFTER),
        ("published: MCP-Zero on APIBank", "–", None, None),
    )
    rows: list[tuple[str, ...]] = []
    for name, tools, before, after in published:
        if before is None or after is None:
            rows.append((name, tools, "–", "–", "–", "–", "–", "–", percent(MCP_ZERO_CUT)))
        else:
            cut = percent_down(reduction(before, after))
            rows.append(
                (name, tools, f"{before:,}", "–", "–", "–", f"{after:,}", f"{before / after:.1f}", cut)
            )
    for catalog in catalogs:
        steps(catalog.name)
        rows.append(_factor_row(catalog.name, first_call(catalog.tools, catalog.summaries, meter)))
    notes = (f"Calibration: {CALIBRATED}",)
    return Table("Before and after", headers, tuple(rows), frozenset(range(1, 9)), notes)


def _factor_row(name: str, call: FirstCall) -> tuple[str, ...]:
    return (
        name,
        f"{call.tools}",
        f"{call.static:,}",
        f"{call.first:,}",
        _times(call.static, call.first),
        percent_down(call.cut),
        f"{call.found:,}",
        _times(call.static, call.found),
        percent_down(max(reduction(call.static, call.found), 0.0)),
    )


def _times(before: int, after: int) -> str:
    return f"{before / after:.1f}" if after else "–"


def _meta(meter: BudgetMeter) -> Table:
    bare = first_call((), {}, meter).bare
    return Table(
        "The meta-tool alone",
        ("", "published", "measured"),
        (("tokens of its definition, without a manifest", f"about {META_TOOL}", f"{bare}"),),
        frozenset({1, 2}),
    )


def _break_even(catalogs: Sequence[NamedCatalog], meter: BudgetMeter, steps: Steps) -> Table:
    """From how many tools a session that searches once is cheaper than one with every tool bound."""
    rows = []
    for catalog in catalogs:
        steps(f"{catalog.name}: break-even")
        text = f"{first_call(catalog.tools, catalog.summaries, meter).text:,}"
        rows.append((catalog.name, f"{SMALL}", *_first_sizes(catalog, meter), text))
    return Table(
        "The smallest catalog for which discovery is cheaper",
        columns(
            "catalog | published rule: tools | first call: tools | after a search: tools | "
            "with its text: tools | text of a search: tokens"
        ),
        tuple(rows),
        frozenset(range(1, 6)),
        (
            "Parts of the catalog, whole servers in a fixed random order; from this size on, discovery stays "
            "cheaper. The extra model call of a search is not counted.",
        ),
    )


def _first_sizes(catalog: NamedCatalog, meter: BudgetMeter) -> tuple[str, ...]:
    """The size after the last that was not cheaper: in the first call, after a search, and with its text."""
    top = min(max(SIZES), len(catalog.tools))
    last_dearer = [0, 0, 0]
    for count in range(1, top + 1):
        part = part_of(catalog, count)
        one = first_call(part.tools, part.summaries, meter)
        for which, tokens in enumerate((one.first, one.found, one.found + one.text)):
            if tokens >= one.static:
                last_dearer[which] = count
    return tuple(f"{last + 1}" if last < top else f"over {top}" for last in last_dearer)


def _rule() -> Table:
    return Table(
        f"The rule for small catalogs: below {SMALL} tools everything is bound",
        ("tools", "discovery.auto=tools", "discovery.auto=always"),
        tuple(_rule_rows()),
        frozenset({0}),
    )


def _rule_rows() -> Iterator[tuple[str, ...]]:
    by_tools, always = DiscoverySettings(auto="tools"), DiscoverySettings(auto="always")
    for tools in (SMALL - 1, SMALL):
        on = [decide(settings, tools, 0, 0).is_on for settings in (by_tools, always)]
        yield (f"{tools}", *("search" if is_on else "bind everything" for is_on in on))
