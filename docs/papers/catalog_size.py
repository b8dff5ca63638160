"""Tool tokens by catalog size (semantic tool discovery, section 11.1, Table 1, and section 11.4)."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from statistics import median, quantiles

from msgspec import Struct
from msgspec.structs import replace

from docs.papers.report import Origin, Section, Table, percent_down
from docs.papers.source import NamedCatalog, Source, Steps, columns, recorded, told
from docs.papers.testbed import MEAN, SERVER_SIZE, generated
from inspector.core.budget import CHARACTERS_PER_TOKEN
from inspector.core.number import percent
from inspector.core.ports import TokenCounter
from inspector.core.settings import BindingSettings, DiscoverySettings, ManifestSettings
from inspector.core.tool import Tool, definition
from inspector.search.answer.answer_text import found_text
from inspector.tokens.manifest import entries, fitted_manifest, search_tools_definition
from inspector.tokens.measure import BudgetMeter

# Tool tokens in a first call, after a search, and when as many tools are loaded as the capacity allows.
#
# What is counted are the compact definitions of the `tools` array as it is sent: the meta-tool with the
# manifest, the always-include set, and the loaded tools.
_WINDOW = 128_000
# A minimal tool, to measure the text that surrounds a search's results.
_SHORT = Tool("a", "b")


class FirstCall(Struct, frozen=True):
    """Tokens of one catalog with `pinned` tools always included.

    `first` is sent before any search, `found` after one search with the most results, `steady` when the
    session has loaded as many tools as it keeps; loaded tools have the deferred tools' mean size. `text` is
    what such a search returns, which stays in the conversation. `bare` is the meta-tool without a manifest,
    `manifest_limit` the setting (0: no limit).
    """

    tools: int
    pinned: int
    static: int
    first: int
    found: int
    steady: int
    bare: int
    text: int
    manifest_limit: int = 0

    @property
    def cut(self) -> float:
        """How much less the first call sends than static binding, 0 to 1."""
        return reduction(self.static, self.first)


def reduction(before: float, after: float) -> float:
    """(before - after) / before, or 0 if `before` is 0."""
    return (before - after) / before if before else 0.0


def meter_of(counter: TokenCounter) -> BudgetMeter:
    """A meter that counts with this tokenizer; the window does not matter here."""
    return BudgetMeter(counter, lambda: _WINDOW)


def cheapest(tools: Sequence[Tool], count: int, meter: BudgetMeter) -> frozenset[str]:
    """The ids of the `count` tools with the smallest definitions."""
    return frozenset(tool.id for tool in sorted(tools, key=meter.tool)[:count])


def first_call(
    tools: Sequence[Tool],
    summaries: Mapping[str, str],
    meter: BudgetMeter,
    *,
    pinned: int = 0,
    manifest_limit: int | None = None,
) -> FirstCall:
    """Count a catalog with the default settings, but `manifest.max_tokens` if a limit is given."""
    always = cheapest(tools, pinned, meter)
    waiting = [tool for tool in tools if tool.id not in always]
    settings = ManifestSettings() if manifest_limit is None else ManifestSettings(manifest_limit)
    manifest = fitted_manifest(entries(waiting, summaries), settings, meter.text)
    static = meter.static(tools)
    definitions = [definition(tool) for tool in tools if tool.id in always]
    sent = [search_tools_definition(manifest.text), *definitions]
    first = sum(meter.entries(sent)) if waiting else static
    mean = sum(map(meter.tool, waiting)) / max(len(waiting), 1)
    results = min(DiscoverySettings().max_search_results, len(waiting))
    kept = min(BindingSettings().capacity, len(waiting))
    return FirstCall(
        tools=len(tools),
        pinned=len(always),
        static=static,
        first=first,
        found=round(first + results * mean),
        steady=round(first + kept * mean),
        bare=sum(meter.entries([search_tools_definition("")])),
        text=_result_text(waiting, results, meter),
        manifest_limit=settings.max_tokens,
    )


def _result_text(waiting: Sequence[Tool], results: int, meter: BudgetMeter) -> int:
    """Tokens of the text of a search with `results` tools of mean size."""
    if not waiting:
        return 0
    brief = DiscoverySettings().results == "brief"
    around = meter.text(found_text([_SHORT], (), brief=brief)) - meter.text(f"- {_SHORT.id}")
    mean = (meter.text(found_text(waiting, (), brief=brief)) - around) / len(waiting)
    return round(around + results * mean)


def reaching(
    tools: Sequence[Tool], summaries: Mapping[str, str], meter: BudgetMeter, *, pinned: int, cut: float
) -> FirstCall | None:
    """The first call with the largest `manifest.max_tokens`, in steps of ten, that reaches the cut.

    None if no manifest is short enough.
    """
    whole = first_call(tools, summaries, meter, pinned=pinned)
    if whole.cut >= cut:
        return whole

    def limited(limit: int) -> FirstCall:
        return first_call(tools, summaries, meter, pinned=pinned, manifest_limit=limit)

    limits = range(10, whole.first, 10)
    # A larger manifest budget never shows less, so the cut falls from the first limit to the last.
    reached = bisect_left(limits, True, key=lambda limit: limited(limit).cut < cut)
    return limited(limits[reached - 1]) if reached else None


SIZES = (10, 25, 50, 100, 200)
DRAWN, DRAWS = (100, 200), 200
ALWAYS = (0, 3, 11)
SMALL_SERVER = 10
# Table 1 of the paper: tokens of static binding, of discovery, and the cut as printed.
PUBLISHED: Mapping[int, tuple[int, int, str]] = {
    10: (4_200, 1_800, "57 %"),
    25: (10_500, 2_100, "80 %"),
    50: (21_000, 2_400, "89 %"),
    100: (42_000, 2_800, "93 %"),
    200: (84_000, 3_200, "96 %"),
}
# Section 11.4: the start with 12 core tools, and the steady state.
CORE, STEADY = 2_000, (3_000, 5_000)
BARS: Mapping[int, float] = {100: 0.95, 200: 0.97}
HEADERS = columns(
    "tools | always included | static, paper | static | dynamic, paper | first call | cut, paper | cut | "
    "after a search | steady"
)
CALIBRATED = (
    f"The sizes are fitted to the paper's table: {MEAN} tokens a tool were put in, so “static” agrees by "
    "construction, and a cut from it says what our request costs beside the paper's, not what it saves on a "
    "real catalog."
)
DRAWN_HEADERS = columns(
    "catalog | at least | tools | static | first call | cut | after a search | cut | with its text, cut"
)
_SEED = 0


def catalog_size(source: Source, steps: Steps) -> Section:
    """Table 1 for the demo's, other people's and generated catalogs. Raises ToolsightError and Stopped."""
    meter = meter_of(source.counter)
    tables, bars = [], list[tuple[str, str, bool]]()
    demo, others = source.demo(), source.others()
    for title, catalog in (("The demo's catalog", demo), *((other.name, other) for other in others)):
        steps(title)
        sizes = [*[part_of(catalog, count) for count in SIZES if count < len(catalog.tools)], catalog]
        tables.append(_table(title, sizes, meter))
        for part in sizes:
            steps(title)
            bars += _bars(part, meter, catalog.name)
    if others:
        tables.append(drawn_table(others, meter, steps))
    else:
        tables.append(skipped_table())
    for server_size in (SERVER_SIZE, SMALL_SERVER):
        table, more = _calibration(server_size, meter, steps)
        tables.append(table)
        bars += more
    return Section(
        id="catalog-size",
        title="Tokens by catalog size",
        source="semantic tool discovery, section 11.1, Table 1, and section 11.4",
        measured=_measured(source),
        tables=tuple(tables),
        findings=findings(),
        bars=tuple(bars),
        recorded=recorded("tool tokens of a model call, with the searches that the agents made"),
    )


def _calibration(
    server_size: int, meter: BudgetMeter, steps: Steps
) -> tuple[Table, list[tuple[str, str, bool]]]:
    """The table and the bars of generated catalogs, whose sizes are those of the paper's table."""
    title = f"generated catalogs, {MEAN} tokens per tool, {server_size} tools per server"
    catalogs = []
    for count in SIZES:
        steps(f"generated catalog of {count} tools")
        catalogs.append(generated(count, meter, server_size=server_size))
    table = replace(_table(title, catalogs, meter), origin=Origin.CALIBRATION, why=CALIBRATED)
    bars = list[tuple[str, str, bool]]()
    for catalog in catalogs:
        steps(title)
        bars += _bars(catalog, meter, f"calibration, generated, {server_size} per server")
    return table, bars


def skipped_table() -> Table:
    """The table in place of other people's catalogs if none were given."""
    return Table(
        "Other people's catalogs",
        ("catalog", "state"),
        (("none", "skipped: name a folder of catalogs with --data"),),
    )


def drawn_table(catalogs: Sequence[NamedCatalog], meter: BudgetMeter, steps: Steps) -> Table:
    """Medians over random sets of whole servers, where a catalog has several and is twice as large."""
    rows = []
    for catalog in catalogs:
        steps(f"random sets of {catalog.name}")
        if len(_by_server(catalog.tools)) > 1:
            rows += [_drawn_row(catalog, size, meter) for size in DRAWN if 2 * size <= len(catalog.tools)]
    title = f"Random sets of whole servers, {DRAWS} of each size: medians [95 % of the sets]"
    return Table(title, DRAWN_HEADERS, tuple(rows), frozenset(range(1, len(DRAWN_HEADERS))))


def _drawn_row(catalog: NamedCatalog, size: int, meter: BudgetMeter) -> tuple[str, ...]:
    calls = [first_call(tools, catalog.summaries, meter) for tools in random_sets(catalog.tools, size)]
    tools, static, first, found = (
        f"{median(getattr(call, part) for call in calls):,.0f}"
        for part in ("tools", "static", "first", "found")
    )
    after = _spread([reduction(call.static, call.found) for call in calls])
    with_text = _spread([reduction(call.static, call.found + call.text) for call in calls])
    cut = _spread([call.cut for call in calls])
    return (catalog.name, f"{size}", tools, static, first, cut, found, after, with_text)


def random_sets(tools: Sequence[Tool], size: int) -> Iterator[Sequence[Tool]]:
    """`DRAWS` sets, always the same: servers in a random order until there are at least `size` tools."""
    by_server = _by_server(tools)
    for number in range(DRAWS):
        servers = list(by_server)
        Random(number).shuffle(servers)
        chosen: list[Tool] = []
        while len(chosen) < size and servers:
            chosen += by_server[servers.pop()]
        yield chosen


def _by_server(tools: Sequence[Tool]) -> dict[str, list[Tool]]:
    by_server: dict[str, list[Tool]] = {}
    for tool in tools:
        by_server.setdefault(tool.server, []).append(tool)
    return by_server


def _spread(cuts: Sequence[float]) -> str:
    # Fortieths: the first and the last bound 2.5 % of the sets each.
    bounds = quantiles(cuts, n=40, method="inclusive")
    return f"{median(cuts) * 100:.1f} % [{bounds[0] * 100:.1f}, {bounds[-1] * 100:.1f}]"


def part_of(catalog: NamedCatalog, count: int) -> NamedCatalog:
    """The first `count` tools, taking whole servers in a fixed random order; the last server may be cut.

    A larger part of a catalog contains its smaller parts.
    """
    by_server = _by_server(catalog.tools)
    servers = list(by_server)
    Random(_SEED).shuffle(servers)
    tools = [tool for server in servers for tool in by_server[server]][:count]
    return replace(catalog, name=f"{catalog.name}, {count} tools", tools=tuple(tools))


def findings() -> tuple[str, ...]:
    """Where the paper's own numbers do not agree, computed from them."""
    each = {static / tools for tools, (static, _, _) in PUBLISHED.items()}
    smallest, largest = PUBLISHED[min(PUBLISHED)][1], PUBLISHED[max(PUBLISHED)][1]
    sentences = []
    if len(each) == 1:
        sentences.append(
            f"Static binding is exactly {each.pop():g} tokens per tool at every size: a constant times the "
            "number of tools, not measured catalogs."
        )
    if smallest < CORE:
        sentences.append(
            f"Discovery over {min(PUBLISHED)} tools costs {smallest:,} tokens in Table 1, less than the "
            f"{CORE:,} of core tools alone with which a session starts in section 11.4 (12 tools, more than "
            "the catalog has)."
        )
    if min(STEADY) < largest < max(STEADY):
        sentences.append(
            f"Section 11.4 has a steady state of {STEADY[0]:,} to {STEADY[1]:,} tokens; Table 1 never has "
            f"more than {largest:,}."
        )
    return tuple(sentences)


def _measured(source: Source) -> str:
    return (
        f"tokens of the `tools` array as compact JSON ({told(source.counter.tokenizer)}; the paper divides "
        f"characters by {CHARACTERS_PER_TOKEN}), including the meta-tool, the manifest and the "
        f"always-include set, with the default settings. The cheapest tools are always included. “After a "
        "search” adds "
        f"{DiscoverySettings().max_search_results} loaded tools, “steady” {BindingSettings().capacity} (as "
        "many as stay bound), each of the deferred tools' mean size"
    )


def _table(title: str, catalogs: Sequence[NamedCatalog], meter: BudgetMeter) -> Table:
    rows = tuple(
        _row(first_call(catalog.tools, catalog.summaries, meter, pinned=pinned))
        for catalog in catalogs
        for pinned in ALWAYS
        if pinned < len(catalog.tools)
    )
    return Table(title, HEADERS, rows, frozenset(range(len(HEADERS))))


def _row(call: FirstCall) -> tuple[str, ...]:
    static, dynamic, cut = PUBLISHED.get(call.tools, (None, None, "–"))
    return (
        f"{call.tools}",
        f"{call.pinned}",
        "–" if static is None else f"{static:,}",
        f"{call.static:,}",
        "–" if dynamic is None else f"{dynamic:,}",
        f"{call.first:,}",
        cut,
        percent_down(call.cut),
        f"{call.found:,}",
        f"{call.steady:,}",
    )


def _bars(catalog: NamedCatalog, meter: BudgetMeter, whose: str) -> Iterator[tuple[str, str, bool]]:
    size = len(catalog.tools)
    if size not in BARS:
        return
    for pinned in ALWAYS:
        found = first_call(catalog.tools, catalog.summaries, meter, pinned=pinned)
        demanded = (
            f"{whose}, {size} tools of {found.static / size:.0f} tokens, {pinned} always included: "
            f"first call cut by {percent(BARS[size])}"
        )
        met = found.cut >= BARS[size]
        yield demanded, percent_down(found.cut) + ("" if met else _remedy(catalog, meter, pinned)), met


def _remedy(catalog: NamedCatalog, meter: BudgetMeter, pinned: int) -> str:
    """The manifest budget that reaches the bar, if any does."""
    cut = BARS[len(catalog.tools)]
    shorter = reaching(catalog.tools, catalog.summaries, meter, pinned=pinned, cut=cut)
    if shorter is not None:
        return f"; manifest.max_tokens={shorter.manifest_limit} reaches {percent_down(shorter.cut)}"
    always = cheapest(catalog.tools, pinned, meter)
    tokens = sum(meter.tool(tool) for tool in catalog.tools if tool.id in always)
    room = (1 - cut) * meter.static(catalog.tools)
    return f"; no manifest reaches it: the {pinned} tools alone have {tokens:,} of {room:,.0f} tokens"
