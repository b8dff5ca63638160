"""`toolsight scenario compare`: one scenario under several profiles, each in its own session."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from inspector.cli.launch import ask_about_leftovers
from inspector.cli.options import COMMON, PROFILE, Options, as_json, session_command
from inspector.cli.table import Progress, say, show, side_by_side, terminal_width
from inspector.config.profile import PROFILES, find_profile
from inspector.core.events import ModelRequested, Record
from inspector.core.report import Table
from inspector.features.lab.comparison import STATIC, ProfileComparison, compare_profiles
from inspector.features.lab.facts import compared_json, notes, tables
from inspector.features.lab.open_lab import NamedScenario, Played, names_model, play, require_answers


def _text(compared: ProfileComparison, width: int) -> Iterator[str | Table]:
    profiles, *others = tables(compared)
    yield compared.title
    for table in side_by_side(profiles, width):
        yield ""
        yield table
    yield ""
    yield from notes(compared)
    for one in others if compared.calls else ():
        for place, table in enumerate(side_by_side(one, width)):
            yield table if not place else replace(table, title="")


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
    show(compared_json(compared, [one.session for one in played]), report)
