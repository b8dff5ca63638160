"""`toolsight scenario compare`: one scenario under several profiles, each in its own session."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from inspector.cli.launch import ask_about_leftovers
from inspector.cli.options import COMMON, PROFILE, Options, as_json, session_command
from inspector.cli.table import Progress, say, show, side_by_side, terminal_width
from inspector.config.profile import PROFILES, find_profile
from inspector.core.events import ModelRequested, Record
from inspector.core.report import COUNT, MONEY, NOTHING, NUMBER, SAVING, Column, Table, selected
from inspector.features.lab.comparison import STATIC, ProfileComparison, compare_profiles
from inspector.features.lab.open_lab import NamedScenario, Played, names_model, play, require_answers

_UNITS = (
    "Tokens are summed over all model calls; costs include a prompt cache and the answers; a step is a tool "
    "call that succeeds and does not repeat another."
)
_SUMS = "model_calls tool_tokens discovery_tokens input_tokens dollars dollars_per_step"
_COST = "call tool_tokens bound think search_tokens input_tokens message dollars only_follows_search"
TOTALS = f"costs{{{_COST}}} searches loads evictions calls rejections loops redundant outcome steps {_SUMS}"
_COLUMNS = (
    Column("profile"),
    Column("model\ncalls", "totals.model_calls", NUMBER),
    Column("definitions", "totals.tool_tokens", COUNT),
    Column("definitions\n+ searches", "totals.discovery_tokens", COUNT),
    Column("against\nstatic", "saved", SAVING),
    Column("all\ninput", "totals.input_tokens", COUNT),
    Column("against\nstatic", "input_saved", SAVING),
    Column("cost", "totals.dollars", MONEY),
    Column("solved\nsteps", "totals.steps", NUMBER),
    Column("cost\nper step", "totals.dollars_per_step", MONEY),
    Column("searches", "totals.searches", NUMBER),
    Column("loads", "totals.loads", NUMBER),
    Column("evictions", "totals.evictions", NUMBER),
    Column("calls", "totals.calls", NUMBER),
    Column("rejections", "totals.rejections", NUMBER),
    Column("loops", "totals.loops", NUMBER),
    Column("redundant\nsearches", "totals.redundant", NUMBER),
    Column("outcome", lambda row: row.totals.outcome or None, NUMBER),
)


def _tables(compared: ProfileComparison) -> tuple[Table, Table, Table]:
    """The profiles row by row, and the tokens of each turn and of each model call."""
    names = [row.profile for row in compared.rows]
    right = frozenset(range(1, len(names) + 1))
    turns = tuple((str(turn), *map(_number, row)) for turn, row in enumerate(compared.turns, start=1))
    calls = tuple((f"{one.message}.{one.call}", *map(_number, one.tool_tokens)) for one in compared.calls)
    summed = "Definitions and searches per turn, summed over its model calls"
    return (
        Table.of(_COLUMNS, compared.rows),
        Table(summed, ("turn", *names), turns, right),
        Table("Definitions per model call", ("turn.call", *names), calls, right),
    )


def _notes(compared: ProfileComparison) -> Iterator[str]:
    if compared.measured:
        yield "Savings are relative to the measured static run, without the searches of its script."
    else:
        yield (
            "Savings are relative to binding every tool in the profile's model calls, except those that only "
            "follow a search; static was not run."
        )
    yield _UNITS


def _text(compared: ProfileComparison, width: int) -> Iterator[str | Table]:
    profiles, *others = _tables(compared)
    yield compared.title
    for table in side_by_side(profiles, width):
        yield ""
        yield table
    yield ""
    yield from _notes(compared)
    yield from compared.notes
    for one in others if compared.calls else ():
        for place, table in enumerate(side_by_side(one, width)):
            yield table if not place else replace(table, title="")


def _json(compared: ProfileComparison, sessions: Sequence[str]) -> dict[str, Any]:
    """The comparison as JSON, with each profile's session."""
    keys = "profile first last static_tokens static_input saved input_saved turns"
    return {
        "title": compared.title,
        "static": "measured" if compared.measured else "catalog",
        "profiles": [
            {**selected(row, keys), "session": session, **selected(row.totals, TOTALS)}
            for row, session in zip(compared.rows, sessions, strict=True)
        ],
        **selected(compared, "calls{message call tool_tokens} notes"),
    }


def _number(value: int | None) -> str:
    return NOTHING if value is None else f"{value:,}"


# Profiles are compared: none is that of the session.
_COMMON = tuple(option for option in COMMON if option is not PROFILE)


@session_command(takes=_COMMON)
@click.argument("name", metavar="FILE|NAME")
@click.option(
    "--profile",
    "profiles",
    multiple=True,
    callback=lambda _context, _parameter, names: list(dict.fromkeys(find_profile(one).name for one in names)),
    help="Compare this profile; see `toolsight config settings --profiles`. May be repeated.",
)
@click.option("--all-profiles", is_flag=True, help="Compare every profile.")
@click.option(
    "--script", is_flag=True, help="Let the scenario's script answer, identically under each profile."
)
@as_json
@click.pass_context
def compare(
    context: click.Context,
    /,
    name: str,
    profiles: list[str],
    all_profiles: bool,
    script: bool,
    chosen: Options,
) -> None:
    """Play a scenario under several profiles, side by side.

    The model answers the scenario's user, so it can act on what each profile offers.

    \b
    toolsight scenario compare demo --script --profile toolsight --profile static
    """
    if script and names_model(context):
        raise click.UsageError("--script and --model cannot be used together.")
    # Static first: if the run stops, the baseline is there.
    wanted = sorted(list(PROFILES) if all_profiles else profiles, key=lambda name: name != STATIC)
    if len(wanted) < 2:
        raise click.UsageError("Pass --profile two or more times, or use --all-profiles.")
    one = NamedScenario.find(name)
    ask_about_leftovers(chosen)
    played: list[Played] = []
    try:
        _play_each(one, replace(chosen, model=one.script) if script else chosen, wanted, played)
    except KeyboardInterrupt as error:
        say(f"{len(played)} of {len(wanted)} profiles played", err=True)
        raise click.Abort from error
    finally:
        if played:
            _show(played, scripted=script)
    require_answers(played)


def _play_each(one: NamedScenario, setup: Options, profiles: Sequence[str], played: list[Played]) -> None:
    """Play the scenario under each profile; results are added to `played`, so that a failure keeps them."""
    with Progress() as progress:
        for number, profile in enumerate(profiles):

            def tell(record: Record, what: str = f"{number + 1} of {len(profiles)}: {profile}") -> None:
                call = record.event.call if isinstance(record.event, ModelRequested) else 0
                progress(f"{what}, model call {call}" if call else what, 0, 0)

            played.append(play(one, setup, profile=profile, tell=tell))


def _show(played: Sequence[Played], *, scripted: bool) -> None:
    compared = compare_profiles([one.result for one in played], scripted=scripted)
    report = _text(compared, terminal_width())
    show(_json(compared, [one.session for one in played]), report)
