"""The token reduction as a factor (layered composition: the problem it states, and its layer 3)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from inspector.core.number import percent, percent_down
from inspector.core.report import Section, Table
from inspector.core.settings import DiscoverySettings
from inspector.loop.discovery_rule import decide
from inspector.research.catalog_size import CALIBRATED, SIZES, part_of, skipped_table
from inspector.research.first_call import FirstCall, first_call, meter_of, reduction
from inspector.research.generated import generated
from inspector.research.recorded import recorded
from inspector.research.source import NamedCatalog, Source, Steps, told
from inspector.tokens.count.measure import BudgetMeter

# A production catalog before and after intent-based loading, and the factor as printed.
BEFORE, AFTER, FACTOR = 77_000, 8_700, 9
# MCP-Zero: the cut it reports for APIBank, and its own catalog in tools and tokens.
MCP_ZERO_CUT = 0.98
MCP_ZERO_TOOLS, MCP_ZERO_TOKENS = 3_000, 248_000
# What the paper says about its meta-tool, and from how many tools discovery is worth it.
META_TOOL = 120
SMALL = 20
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
    headers = (
        "catalog",
        "tools",
        "before",
        "first call",
        "factor",
        "cut",
        "after a search",
        "factor",
        "cut",
    )
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
        (
            "catalog",
            "published rule: tools",
            "first call: tools",
            "after a search: tools",
            "with its text: tools",
            "text of a search: tokens",
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
    by_tools, always = (
        DiscoverySettings(auto="tools", auto_tools=SMALL),
        DiscoverySettings(auto="always"),
    )
    for tools in (SMALL - 1, SMALL):
        on = [decide(settings, tools, 0, 0).is_on for settings in (by_tools, always)]
        yield (f"{tools}", *("search" if is_on else "bind everything" for is_on in on))
