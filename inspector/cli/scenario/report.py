"""Scenarios, their results and comparisons of profiles, as text, Markdown and JSON."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from textwrap import fill
from typing import Any

from inspector.core.access import viewer
from inspector.core.budget import Prices
from inspector.core.events import ModelResponded, Record, SessionStarted
from inspector.core.number import count, money, percent
from inspector.scenario.comparison import (
    AlignedCall,
    ComparedProfile,
    ProfileComparison,
    ScenarioResult,
    Totals,
)
from inspector.scenario.expectation import Expectation, Finding
from inspector.scenario.scenario import Scenario
from widgets import visible

NOTHING = "–"
_GAP = "  "
_INDENT = "    "
_WIDEST = 110
_LONGEST_LINE = 1000
_DETAIL = frozenset(
    {"session", "forgotten", "connecting", "ready", "stopped", "catalog", "index", "delta", "budget"}
)

_UNITS = (
    "Tokens are summed over all model calls; costs include a prompt cache and the answers; a step is a tool "
    "call that succeeds and does not repeat another."
)

# Two lines of heading, and the cell below them.
_Column = tuple[str, str, Callable[[ComparedProfile], str]]
_COLUMNS: tuple[_Column, ...] = (
    ("model", "calls", lambda row: str(row.totals.model_calls)),
    ("", "definitions", lambda row: _number(row.totals.tool_tokens)),
    ("definitions", "+ searches", lambda row: _number(row.totals.discovery_tokens)),
    ("saved", "vs static", lambda row: _share(row.saved)),
    ("all", "input", lambda row: _number(row.totals.input_tokens)),
    ("saved", "vs static", lambda row: _share(row.input_saved)),
    ("", "cost", lambda row: _dollars(row.totals.dollars)),
    ("solved", "steps", lambda row: str(row.totals.steps)),
    ("cost", "per step", lambda row: _dollars(row.totals.dollars_per_step)),
    ("", "searches", lambda row: str(row.totals.searches)),
    ("", "loads", lambda row: str(row.totals.loads)),
    ("", "evictions", lambda row: str(row.totals.evictions)),
    ("", "calls", lambda row: str(row.totals.calls)),
    ("", "rejections", lambda row: str(row.totals.rejections)),
    ("", "loops", lambda row: str(row.totals.loops)),
    ("redundant", "searches", lambda row: str(row.totals.redundant)),
    ("", "outcome", lambda row: row.totals.outcome or NOTHING),
)


def listing(name: str, scenario: Scenario, width: int) -> Iterator[str]:
    """A scenario in a list: its name and title, what it is about, and what it expects."""
    turns = len(scenario.users)
    profile = f", profile {scenario.profile}" if scenario.profile else ""
    yield f"{name}   {scenario.title}   ({count(turns, 'turn')}{profile})"
    if scenario.about:
        yield _wrapped(" ".join(scenario.about.split()), width)
    for expected in scenario.expect:
        yield f"{_INDENT}expects {expected.text}"
    for unwanted in scenario.never:
        yield f"{_INDENT}never   {unwanted.text}"


def listing_json(name: str, path: str, scenario: Scenario) -> dict[str, Any]:
    return {
        "name": name,
        "file": path,
        "title": scenario.title,
        "about": scenario.about,
        "profile": scenario.profile,
        "settings": dict(scenario.settings),
        "turns": list(scenario.users),
        "expect": [_expectation_json(one) for one in scenario.expect],
        "never": [_expectation_json(one) for one in scenario.never],
    }


def record_line(record: Record, width: int) -> str | None:
    """A record on one line that fits the width; None for a detail."""
    event = record.event
    if isinstance(event, SessionStarted) and event.restricted:
        seen_by = viewer(event.user, event.expert)
        return _line(record, f"as {seen_by}, {count(len(event.servers), 'server')}", width)
    if record.kind in _DETAIL or (isinstance(event, ModelResponded) and not event.text):
        return None
    said = f"{'thinks: ' if event.thought else ''}{event.text}" if isinstance(event, ModelResponded) else None
    return _line(record, event.summary() if said is None else said, width)


def totals_lines(row: ComparedProfile, prices: Prices | None) -> Iterator[str]:
    """A run's totals, beside what binding every tool would have sent."""
    had = row.totals
    yield f"profile {row.profile}   {_outcome(had)}"
    definitions = f"definitions {had.tool_tokens:,} tokens in {count(had.model_calls, 'model call')}"
    if had.costs:
        definitions += f" ({row.first:,} in the first, {row.last:,} in the last)"
    yield f"{definitions}, with searches {had.discovery_tokens:,}, all input {had.input_tokens:,}"
    if row.saved is not None and row.input_saved is not None:
        yield (
            f"static binding: definitions {row.static_tokens:,}, saved {percent(row.saved)} with searches; "
            f"all input {row.static_input:,}, saved {percent(row.input_saved)}"
        )
    if prices is not None and had.dollars is not None:
        yield f"cost {money(had.dollars)} for {_per_step(had)}, at {prices.model} prices"
    yield (
        f"searches {had.searches}, loads {had.loads}, evictions {had.evictions}, calls {had.calls}, "
        f"rejections {had.rejections}, loops {had.loops}, redundant searches {had.redundant}"
    )


def finding_lines(findings: Sequence[Finding], records: Sequence[Record], width: int) -> Iterator[str]:
    """Each expectation and whether it was met; below one that was not, the closest record."""
    by_seq = {record.seq: record for record in records}
    for finding in findings:
        never = "never " if finding.forbidden else ""
        mark = "✓" if finding.met else "✕"
        met_at = finding.met and finding.seq is not None
        reason = f"met at #{finding.seq}" if met_at else finding.reason
        yield f"{mark} {never}{finding.expectation.text}   {reason}"
        if not finding.met and finding.seq in by_seq:
            record = by_seq[finding.seq]
            yield f"{_INDENT}{_line(record, record.event.summary(), width - len(_INDENT))}"


def result_json(name: str, session: str, result: ScenarioResult) -> dict[str, Any]:
    """A run as JSON; its records are in the database, under `session`."""
    return {
        "name": name,
        "title": result.scenario.title,
        "profile": result.profile,
        "session": session,
        "passed": result.passed,
        "findings": [_finding_json(finding) for finding in result.findings],
        "totals": totals_json(result.totals),
    }


def totals_json(had: Totals) -> dict[str, Any]:
    """A run's totals, with their sums."""
    return {
        **asdict(had),
        "model_calls": had.model_calls,
        "tool_tokens": had.tool_tokens,
        "discovery_tokens": had.discovery_tokens,
        "input_tokens": had.input_tokens,
        "dollars": had.dollars,
        "dollars_per_step": had.dollars_per_step,
    }


def comparison_text(compared: ProfileComparison, width: int) -> Iterator[str]:
    """The profiles row by row, the notes, and the tokens of each turn and of each model call."""
    names = _justified(["", "profile", *(row.profile for row in compared.rows)], str.ljust)
    columns = [
        _justified([over, head, *(cell(row) for row in compared.rows)], str.rjust)
        for over, head, cell in _COLUMNS
    ]
    yield from _side_by_side(names, columns, width)
    yield ""
    yield _base(compared)
    yield _UNITS
    yield from compared.notes
    if compared.calls:
        names = [row.profile for row in compared.rows]
        yield ""
        yield "Definitions and searches per turn, summed over its model calls"
        turns = [f"{number}" for number, _ in enumerate(compared.turns, start=1)]
        sums = [
            _justified([name, *map(_number, column)], str.rjust)
            for name, column in _by_column(names, compared)
        ]
        yield from _side_by_side(_justified(["turn", *turns], str.ljust), sums, width)
        yield ""
        yield "Definitions per model call"
        calls = _justified(["turn.call", *_call_names(compared.calls)], str.ljust)
        yield from _side_by_side(calls, [_tokens(compared, n) for n in range(len(compared.rows))], width)


def comparison_markdown(compared: ProfileComparison) -> Iterator[str]:
    """The comparison as Markdown."""
    heads = [f"{over} {head}".strip() for over, head, _ in _COLUMNS]
    rows = [[row.profile, *(cell(row) for _, _, cell in _COLUMNS)] for row in compared.rows]
    yield f"### {_inline(compared.title)}"
    yield ""
    yield from _markdown_table(["profile", *heads], rows)
    yield ""
    yield _base(compared)
    yield _UNITS
    yield from (f"- {_inline(note)}" for note in compared.notes)
    yield ""
    names = [row.profile for row in compared.rows]
    turns = enumerate(compared.turns, start=1)
    yield from _markdown_table(["turn", *names], [[str(turn), *map(_number, row)] for turn, row in turns])
    yield ""
    calls = zip(_call_names(compared.calls), compared.calls, strict=True)
    yield from _markdown_table(
        ["definitions, turn.call", *names], [[name, *map(_number, call.tool_tokens)] for name, call in calls]
    )


def comparison_json(compared: ProfileComparison, sessions: Sequence[str]) -> dict[str, Any]:
    """The comparison as JSON, with each profile's session."""
    return {
        "title": compared.title,
        "static": "measured" if compared.measured else "catalog",
        "profiles": [
            {
                "profile": row.profile,
                "session": session,
                "first": row.first,
                "last": row.last,
                "static_tokens": row.static_tokens,
                "static_input": row.static_input,
                "saved": row.saved,
                "input_saved": row.input_saved,
                "turns": row.turns,
                **totals_json(row.totals),
            }
            for row, session in zip(compared.rows, sessions, strict=True)
        ],
        "calls": [asdict(one) for one in compared.calls],
        "notes": list(compared.notes),
    }


def _expectation_json(expected: Expectation) -> dict[str, Any]:
    return {"event": expected.kind, "conditions": [asdict(one) for one in expected.conditions]}


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "expectation": finding.expectation.text,
        "forbidden": finding.forbidden,
        "met": finding.met,
        "seq": finding.seq,
        "reason": finding.reason,
    }


def _line(record: Record, text: str, width: int) -> str:
    line = visible(f"#{record.seq:<4} {record.kind:<9} {' '.join(text[:_LONGEST_LINE].split())}")
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _outcome(had: Totals) -> str:
    return f"outcome {had.outcome}" if had.outcome else "no turn finished"


def _base(compared: ProfileComparison) -> str:
    if compared.measured:
        return "Savings are relative to the measured static run, without the searches of its script."
    return (
        "Savings are relative to binding every tool in the profile's model calls, except those that only "
        "follow a search; static was not run."
    )


def _call_names(calls: Sequence[AlignedCall]) -> list[str]:
    return [f"{call.message}.{call.call}" for call in calls]


def _tokens(compared: ProfileComparison, place: int) -> list[str]:
    cells = (_number(one.tool_tokens[place]) for one in compared.calls)
    return _justified([compared.rows[place].profile, *cells], str.rjust)


def _side_by_side(first: list[str], columns: Sequence[list[str]], width: int) -> Iterator[str]:
    """The columns as tables; those that do not fit side by side go in further tables below."""
    tables = [first]
    for column in columns:
        if len(tables[-1][0]) + len(_GAP) + len(column[0]) > width and tables[-1] is not first:
            tables.append(first)
        tables[-1] = [_GAP.join(cells) for cells in zip(tables[-1], column, strict=True)]
    for table in tables:
        yield ""
        yield from (line.rstrip() for line in table)


def _justified(cells: Sequence[str], justify: Callable[[str, int], str]) -> list[str]:
    width = max(map(len, cells))
    return [justify(cell, width) for cell in cells]


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    alignment = ["---", *["---:"] * (len(heads) - 1)]
    yield from (f"| {' | '.join(line)} |" for line in (heads, alignment, *rows))


def _inline(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _number(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else percent(value)


def _dollars(value: float | None) -> str:
    return NOTHING if value is None else money(value)


def _per_step(had: Totals) -> str:
    steps = count(had.steps, "solved step")
    return steps if had.dollars_per_step is None else f"{steps} ({money(had.dollars_per_step)} per step)"


def _by_column(names: Sequence[str], compared: ProfileComparison) -> Iterator[tuple[str, list[int | None]]]:
    for place, name in enumerate(names):
        yield name, [turn[place] for turn in compared.turns]


def _wrapped(text: str, width: int) -> str:
    return fill(
        text, min(width, _WIDEST), initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
    )
