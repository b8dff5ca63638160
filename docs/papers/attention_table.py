"""The tables of Tool Attention's main results: our columns beside the published ones."""

from collections.abc import Mapping, Sequence
from statistics import mean, pstdev

from docs.papers.method import Quality
from docs.papers.published import B4, OURS, POOL_AND_SCHEMAS, SCALE, SCALE_RHO, TABLE_3, TABLE_4, TURNS
from docs.papers.report import Origin, Section, Table
from docs.papers.source import columns, recorded
from docs.papers.study import DEFAULT, EIGHT_BOUND, TASK_TOKENS, Bench, Measured, Scaled, paired_f1
from docs.papers.task import SHARES
from docs.papers.testbed import TABLE_2
from inspector.core.number import money, percent, signed_percent
from inspector.core.settings import BindingSettings

PAPER = "Tool Attention"
NOT_GIVEN = "–"
SIZED = (
    "The tools are generated, and their definitions sized after the paper's table 2: the full schema's "
    "tokens were put in, what a method selects was not."
)
_ALLOWED = 0.03
_TOKEN_BAR = POOL_AND_SCHEMAS // 2


def catalog_section(of: Bench, copied: Mapping[str, Quality], seeds: int) -> Section:
    rows, off = [], []
    made = of.testbed
    for size in TABLE_2:
        tokens = [n for tool_id, n in made.tokens.items() if tool_id.startswith(f"{size.server}:")]
        off.append(mean(tokens) / size.tokens - 1)
        rows.append(
            (
                size.server,
                str(len(tokens)),
                f"{size.tokens}",
                f"{mean(tokens):.0f}",
                signed_percent(off[-1], 1),
                f"{min(tokens)}–{max(tokens)}",
                f"{pstdev(tokens) / mean(tokens):.2f}",
            )
        )
    rows.append(("total", f"{len(made.tools)}", "48,600 (printed: 47,300)", f"{made.full:,}", "", "", ""))
    headers = ("server", "tools", "published mean", "our mean", "off by", "from–to", "variation")
    table = Table(
        "tokens per definition",
        headers,
        tuple(rows),
        frozenset(range(1, 7)),
        origin=Origin.CALIBRATION,
        why="The definitions were sized after this table, so that they agree with it shows the testbed's "
        "making, not a measurement.",
    )
    worst = max(map(abs, off))
    return Section(
        "attention-testbed",
        "Tool Attention: generated testbed and tasks",
        f"{PAPER}, table 2 and section 6.3",
        f"{len(made.tools)} generated tools, in tokens of compact JSON in the chat-completions format; "
        f"{len(of.tasks):,} tasks from {seeds} seeds on one testbed",
        (table, _task_table(of), _copied_table(of, copied)),
        bars=(
            (
                f"calibration: each server's mean within {percent(_ALLOWED)}",
                f"{percent(worst, 1)} at most",
                worst <= _ALLOWED,
            ),
        ),
    )


def _task_table(of: Bench) -> Table:
    rows = []
    for kind in SHARES:
        mine = [task for task in of.tasks if task.kind == kind]
        if not mine:
            continue
        turns, tools = mean(len(task.turns) for task in mine), mean(len(task.needed) for task in mine)
        rows.append((kind, f"{len(mine):,}", f"{turns:.1f}", f"{tools:.1f}"))
    notes = (
        "The paper does not say how many tasks of each kind it has; these shares are ours.",
        "Requests combine other words for the action and the thing (half of the time the thing's own name), "
        "a concrete object and a place. Some tools are needed more often than others (a power law), the same "
        "ones with every seed.",
    )
    return Table(
        "tasks",
        ("kind", "tasks", "turns", "tools needed"),
        tuple(rows),
        frozenset({1, 2, 3}),
        notes,
        origin=Origin.GENERATED,
    )


def _copied_table(of: Bench, copied: Mapping[str, Quality]) -> Table:
    rows = tuple((name, f"{q.precision:.2f}", f"{q.recall:.2f}", f"{q.f1:.2f}") for name, q in copied.items())
    return Table(
        "if every query were a copy of its tool's summary",
        ("method", "precision", "recall", "F1"),
        rows,
        frozenset({1, 2, 3}),
        (
            f"A copied query shares all its words with the summary (a Jaccard index of stems of 1.00). Our "
            f"queries have {of.overlap:.2f} on average.",
        ),
        origin=Origin.CALIBRATION,
        why="Who asks with the summary's own words finds the tool by construction.",
    )


def main_section(measured: Mapping[str, Measured], of: Bench) -> Section:
    default, paper = measured[DEFAULT], measured[OURS]
    bars = (
        (
            f"generated tasks: tokens of a model call of our default below {_TOKEN_BAR:,} "
            "(half of the paper's pool and schemas)",
            f"{default.per_call.mean:,.0f} as the mean over tasks, {default.call_by_turn:,.0f} over all "
            f"turns; a turn of {default.calls:.1f} calls sends {default.tokens.mean + default.traffic:,.0f} "
            f"with search results, Tool Attention {paper.tokens.mean:,.0f} in {paper.calls:.1f}",
            max(default.per_call.mean, default.call_by_turn) < _TOKEN_BAR,
        ),
        (
            "generated tasks: retrieval F1 of bound tools at least Tool Attention's on the same tasks",
            f"{default.bound.f1:.3f}, Tool Attention {paper.bound.f1:.3f}; paired test over tasks, p "
            f"{paired_f1(default, paper):.3f}",
            default.bound.f1 >= paper.bound.f1,
        ),
    )
    return Section(
        "attention-main",
        "Tool Attention: tokens, retrieval and utilization",
        f"{PAPER}, tables 3 and 4",
        "tool tokens: those of one model call, which the paper prints, and those of a turn, summed over its "
        f"model calls; the mean over turns, then over {len(of.tasks):,} tasks. "
        "No model was used: a step calls the tool it needs if that is bound",
        (_token_table(measured), _retrieval_table(measured), _kind_table(measured), _projected()),
        bars=bars,
        recorded=recorded("tool tokens of a model call and loops, with the profile `attention` too"),
    )


def _token_table(measured: Mapping[str, Measured]) -> Table:
    rows = []
    for name, one in measured.items():
        row = TABLE_3.get(name)
        rows.append(
            (
                name,
                f"{one.per_call.mean:,.0f} ± {one.per_call.half_width:,.0f}",
                f"{one.whole_call:,.0f}",
                f"{row.tokens:,} ± {row.spread}" if row else NOT_GIVEN,
                f"{one.tokens.mean:,.0f} ± {one.tokens.half_width:,.0f}",
                f"{one.tokens.mean + one.traffic:,.0f}",
                _rho(one.rho),
                _rho(one.rho_bare),
                f"{row.rho:.2f}" if row else NOT_GIVEN,
            )
        )
    headers = columns(
        "method | tokens/call | with the pool | published | tokens/turn | and searches | ρ at turn 30 | "
        "ρ, definitions alone | published"
    )
    notes = (
        "±: half of the 95 % bootstrap interval over tasks and seeds, clustered by the tool that a task "
        "shares with most others.",
        "tokens/turn: with the pool, summed over the turn's model calls; “and searches” adds the searches "
        "and their results, as often as they are sent. The paper's turn is one request: compare its figures "
        "with tokens/call.",
        "The published figure of Tool Attention leaves out its pool: compare it with the first column. With "
        f"its pool it is {POOL_AND_SCHEMAS:,}. Our summaries are shorter than the paper's 40 tokens.",
        f"ρ follows equation 3 with the tax of one request, C_task {TASK_TOKENS:,} (500 tokens per turn, as "
        "the published ρ of B1 to B3 imply) and our own system prompt. The first ρ counts everything that is "
        "there because of tools: pool, definitions, meta-tool, and searches with their results.",
        "B2: the 30 tools that 200 tasks of another seed need most often. B4: lists and help texts as they "
        "accumulate, for a model that always picks the right server and tool; a lower bound.",
        "Our default searches in every turn for what was said, even for small talk, once per step. Search "
        "results stay in the conversation, and no history was cut.",
    )
    return Table(
        "table 3, what the paper calls measured",
        headers,
        tuple(rows),
        frozenset(range(1, 9)),
        notes,
        origin=Origin.GENERATED,
        why=SIZED,
    )


def _rho(value: float | None) -> str:
    return NOT_GIVEN if value is None else f"{value:.2f}"


def _retrieval_table(measured: Mapping[str, Measured]) -> Table:
    rows = []
    for name, one in measured.items():
        cells = [*_three(one.bound), f"{one.found.f1:.3f}", f"{one.whole.f1:.3f}"]
        if name == B4:
            cells = [NOT_GIVEN] * 5
        rows.append((name, *cells, f"{one.calls:.1f}"))
    headers = columns(
        "method | precision | recall | F1 | F1 of the turn's own results | F1 of the task | calls/turn"
    )
    notes = (
        "Per turn: what was bound compared to what the turn needs, the mean over turns that need tools. "
        "What a session keeps from earlier turns counts against its precision; the turn's own results leave "
        "it out.",
        "Of the task: everything that was ever bound compared to the ground truth of the whole task.",
        "Every search is another model call: the last column is the price of fewer tokens per call.",
    )
    return Table("retrieval", headers, tuple(rows), frozenset(range(1, 7)), notes, origin=Origin.GENERATED)


def _three(of: Quality) -> list[str]:
    return [f"{of.precision:.3f}", f"{of.recall:.3f}", f"{of.f1:.3f}"]


def _kind_table(measured: Mapping[str, Measured]) -> Table:
    kinds = [k for k in SHARES if any(run.kind == k for one in measured.values() for run in one.runs)]
    rows = tuple(
        (name, *(f"{one.tokens_of(kind):,.0f}" for kind in kinds), f"{one.by_turn:,.0f}")
        for name, one in measured.items()
    )
    notes = [
        "Summed over a turn's model calls, with the pool and the searches. Table 3 averages tasks, the last "
        "column turns."
    ]
    default, tight = measured[DEFAULT], measured[EIGHT_BOUND]
    notes.append(
        f"A long session always binds as many tools as the capacity allows, so the capacity sets its cost: "
        f"over all turns our default, with a capacity of {BindingSettings().capacity}, has "
        f"{default.by_turn:,.0f}, of a model call {default.call_by_turn:,.0f} without searches; with 8 "
        f"it has {tight.by_turn:,.0f} and {tight.call_by_turn:,.0f}, at an F1 of {tight.bound.f1:.3f}."
    )
    headers = ("method", *kinds, "over all turns")
    right = frozenset(range(1, len(headers)))
    return Table("tokens/turn by kind of task", headers, rows, right, tuple(notes), origin=Origin.GENERATED)


def _projected() -> Table:
    """The columns that the paper itself calls projections."""
    rows = tuple(
        (
            name,
            f"{row.success} %",
            f"{row.p50} s",
            f"{row.p95} s",
            money(row.dollars, 2),
            f"{TABLE_4[name][0]:.2f}",
        )
        for name, row in TABLE_3.items()
    )
    return Table(
        "Projected in the paper, not reproduced",
        ("method", "success", "P50", "P95", "cost/task", "judged quality"),
        rows,
        frozenset(range(1, 6)),
        ("According to section 6.1 no model was run for these: they are derived from token counts.",),
        origin=Origin.PUBLISHED,
    )


def scaling_section(scaled: Sequence[Scaled]) -> Section:
    sizes = list(dict.fromkeys(one.tools for one in scaled))
    names = list(dict.fromkeys(one.name for one in scaled))
    at = {(one.name, one.tools): one for one in scaled}
    headers = ("method", *(f"{size:,} tools" for size in sizes))
    right = frozenset(range(1, len(sizes) + 1))
    tokens = tuple((name, *(f"{at[name, size].tokens:,.0f}" for size in sizes)) for name in names)
    rho = tuple((name, *(f"{at[name, size].rho:.2f}" for size in sizes)) for name in names)
    return Section(
        "attention-scaling",
        "Tool Attention: growing catalogs",
        f"{PAPER}, section 7.4",
        "single-step and multi-step tasks on catalogs of the same mix; all tokens that are there because of "
        f"tools, and ρ with the C_task of turn {TURNS} ({TASK_TOKENS:,})",
        (
            Table(
                "tokens/turn",
                headers,
                tokens,
                right,
                (
                    "Pool, manifest and search results are counted, summed over a turn's model calls; ρ is "
                    "that of the last one.",
                    "Here our default searches by words alone, which judge less well what fits; simple "
                    "retrieval ranks by summaries.",
                ),
                origin=Origin.GENERATED,
                why=f"{SIZED} “Tokens by catalog size” has real catalogs of up to as many tools as they "
                "have.",
            ),
            Table(
                "ρ",
                headers,
                rho,
                right,
                (f"Claimed for Tool Attention: at least {SCALE_RHO} up to {SCALE:,} tools.",),
                origin=Origin.GENERATED,
            ),
        ),
    )
