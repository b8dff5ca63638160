"""`toolsight scenario compare`: one scenario under several profiles, each in its own session."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from inspector.cli import composition
from inspector.cli.doctor import ask_about_leftovers
from inspector.cli.lab import NamedScenario, Played, names_model, play, require_answers
from inspector.cli.options import Options, as_json, options, shared
from inspector.cli.table import Progress, say, say_json, terminal_width
from inspector.config.setting import PROFILES, find_profile
from inspector.core.events import ModelRequested, Record
from inspector.core.number import money, percent
from inspector.core.ports import SystemClock
from inspector.scenario.comparison import (
    STATIC,
    AlignedCall,
    ComparedProfile,
    ProfileComparison,
    Totals,
    compare_profiles,
)

NOTHING = "–"
_GAP = "  "
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


def _by_column(names: Sequence[str], compared: ProfileComparison) -> Iterator[tuple[str, list[int | None]]]:
    for place, name in enumerate(names):
        yield name, [turn[place] for turn in compared.turns]


_ONE_PROFILE = "profile"


class _CompareCommand(click.Command):
    """Takes the shared options, except the single profile that other commands take."""

    def __init__(self, *, params: Iterable[click.Parameter] = (), **extra: Any) -> None:
        super().__init__(params=[param for param in params if param.name != _ONE_PROFILE], **extra)


def _profiles(_context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(find_profile(name).name for name in names))


@click.command(cls=_CompareCommand)
@click.argument("name", metavar="FILE|NAME")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    callback=_profiles,
    help="Compare this profile; see `toolsight config settings --profiles`. May be repeated.",
)
@click.option("--all-profiles", is_flag=True, help="Compare every profile.")
@click.option(
    "--script", is_flag=True, help="Let the scenario's script answer, identically under each profile."
)
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@shared
@as_json
@click.pass_context
def compare(
    context: click.Context,
    /,
    name: str,
    profiles: list[str],
    all_profiles: bool,
    script: bool,
    markdown: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Play a scenario under several profiles, side by side.

    The model answers the scenario's user, so it can act on what each profile offers.

    \b
    toolsight scenario compare demo --script --profile toolsight --profile static
    """
    if script and names_model(context):
        raise click.UsageError("--script and --model cannot be used together.")
    if markdown and as_json:
        raise click.UsageError("--markdown and --json cannot be used together.")
    wanted = _in_order(list(PROFILES) if all_profiles else profiles)
    if len(wanted) < 2:
        raise click.UsageError("Pass --profile two or more times, or use --all-profiles.")
    one = NamedScenario.find(name)
    setup = options(**values)
    if not setup.names_viewer:
        ask_about_leftovers(composition.open_leftovers(setup))
    played: list[Played] = []
    try:
        _play_each(one, replace(setup, model=one.script) if script else setup, wanted, played)
    except KeyboardInterrupt as error:
        say(f"{len(played)} of {len(wanted)} profiles played", err=True)
        raise click.Abort from error
    finally:
        if played:
            _say(played, scripted=script, markdown=markdown, as_json=as_json)
    require_answers(played)


def _in_order(profiles: Sequence[str]) -> list[str]:
    """The profiles in the given order, but static first: if the run stops, the baseline is there."""
    return sorted(profiles, key=lambda name: name != STATIC)


def _play_each(one: NamedScenario, setup: Options, profiles: Sequence[str], played: list[Played]) -> None:
    """Play the scenario under each profile; results are added to `played`, so that a failure keeps them."""
    progress = Progress(SystemClock())
    try:
        for number, profile in enumerate(profiles):

            def tell(record: Record, what: str = f"{number + 1} of {len(profiles)}: {profile}") -> None:
                call = record.event.call if isinstance(record.event, ModelRequested) else 0
                progress(f"{what}, model call {call}" if call else what, 0, 0)

            played.append(play(one, setup, profile=profile, tell=tell))
    finally:
        progress.clear()


def _say(played: Sequence[Played], *, scripted: bool, markdown: bool, as_json: bool) -> None:
    compared = compare_profiles([one.result for one in played], scripted=scripted)
    if as_json:
        say_json(comparison_json(compared, [one.session for one in played]))
        return
    if markdown:
        lines = comparison_markdown(compared)
    else:
        say(compared.title)
        lines = comparison_text(compared, terminal_width())
    for line in lines:
        say(line)
