"""`toolsight scenario` plays scripted conversations and compares profiles, `toolsight race` a question's."""

import sys
from collections.abc import Iterator, Sequence
from textwrap import fill

import click
from msgspec.structs import replace

from inspector.cli import location
from inspector.cli.composition import lent
from inspector.cli.configuration import read_configuration
from inspector.cli.options import COMMON, PROFILE, CommandGroup, Options, as_json, session_command
from inspector.cli.run import Exit, run
from inspector.cli.table import (
    Progress,
    is_json,
    say,
    say_json,
    say_report,
    show,
    side_by_side,
    terminal_width,
)
from inspector.config.profile import DEFAULT_PROFILE, PROFILES, find_profile
from inspector.core.access import viewer
from inspector.core.error import ConfigError
from inspector.core.events import ModelRequested, ModelResponded, Record, SessionStarted
from inspector.core.number import count
from inspector.core.report import Table
from inspector.features.lab import open_lab
from inspector.features.lab.comparison import STATIC, ProfileComparison, ScenarioResult, compare_profiles
from inspector.features.lab.expectation import Finding
from inspector.features.lab.facts import (
    compared_json,
    notes,
    played_json,
    profiles_table,
    scenario_json,
    totals_lines,
)
from inspector.features.lab.ground import Ground, question, require_own_mind
from inspector.features.lab.open_lab import NamedScenario, Played, names_model, play, require_answers
from inspector.features.lab.race.facts import race_json, race_report
from inspector.features.lab.race.race import Race, Side, run_race
from inspector.features.lab.scenario import Scenario
from widgets import visible

_INDENT = "    "
_WIDEST = 110
_LONGEST_LINE = 1000
_DETAIL = frozenset(
    {"session", "forgotten", "connecting", "ready", "stopped", "catalog", "index", "delta", "budget"}
)


def _listing(found: Sequence[NamedScenario], width: int) -> Iterator[str]:
    for number, one in enumerate(found):
        if number:
            yield ""
        yield from _scenario(one.name, one.scenario, width)


def _scenario(name: str, scenario: Scenario, width: int) -> Iterator[str]:
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


def _line(record: Record, text: str, width: int) -> str:
    line = visible(f"#{record.seq:<4} {record.kind:<9} {' '.join(text[:_LONGEST_LINE].split())}")
    return line if len(line) <= width else f"{line[: width - 1]}…"


def _wrapped(text: str, width: int) -> str:
    return fill(
        text, min(width, _WIDEST), initial_indent=_INDENT, subsequent_indent=_INDENT, break_on_hyphens=False
    )


@click.group(cls=CommandGroup, invoke_without_command=True)
@as_json
@click.pass_context
def scenario(context: click.Context, /) -> None:
    """List scripted conversations, and what each expects.

    \b
    toolsight scenario run guard --check
    """
    if context.invoked_subcommand is None:
        found = [NamedScenario.find(path.stem) for path in location.shipped_scenarios()]
        show(list(map(scenario_json, found)), _listing(found, terminal_width()))


@session_command("run", takes=COMMON)
@click.argument("names", nargs=-1, metavar="[FILE|NAME]...")
@click.option("--all", "is_all", is_flag=True, help="Play every scenario that comes with Toolsight.")
@click.option("--check", is_flag=True, help="Exit with 3 if an expectation is not met.")
@as_json
@click.pass_context
def run_scenarios(
    context: click.Context, /, names: tuple[str, ...], is_all: bool, check: bool, chosen: Options
) -> None:
    """Play scenarios, each in its own session with fresh data.

    They run on the demo servers, or on --config. Each scenario's script answers as the model; with --model,
    that model gets the same messages and answers instead.

    \b
    toolsight scenario run guard redundant --check
    """
    shipped = [path.stem for path in location.shipped_scenarios()] if is_all else []
    wanted = [NamedScenario.find(name) for name in dict.fromkeys((*shipped, *names))]
    if not wanted:
        raise click.UsageError("Pass a scenario, or --all. `toolsight scenario` lists them.")
    played: list[Played] = []
    try:
        for one in wanted:
            model = chosen.model if names_model(context) else one.script
            mine = replace(chosen, model=model)
            played.append(play(one, mine) if is_json() else _played_aloud(one, mine, check=check))
    except KeyboardInterrupt as error:
        say(f"{len(played)} of {count(len(wanted), 'scenario')} played", err=True)
        raise click.Abort from error
    finally:
        if is_json():
            say_json(list(map(played_json, played)))
    if check:
        _judge(played)
    require_answers(played)


def _played_aloud(one: NamedScenario, setup: Options, *, check: bool) -> Played:
    """Play a scenario; print a line for each record that matters, then the totals."""
    width = terminal_width()

    def tell(record: Record) -> None:
        line = record_line(record, width)
        if line is not None:
            say(line)

    say(f"\n{one.scenario.title}   {one.name}")
    played = play(one, setup, tell=tell)
    result = played.result
    say()
    (row,) = compare_profiles([result], scripted=False).rows
    say_report(totals_lines(row, result.prices))
    if check:
        say()
        say_report(finding_lines(result.findings, result.records, width))
    say(f"session {played.session} in {location.database_path(setup)}")
    return played


def _judge(played: Sequence[Played]) -> None:
    """Exit with 3 if a scenario did not pass, naming each one that did not."""
    failed = [one.name for one in played if not one.result.passed]
    if not is_json():
        rest = f"; failed: {', '.join(failed)}" if failed else ""
        say(f"\n{len(played) - len(failed)} of {len(played)} scenarios passed{rest}")
    if failed:
        sys.exit(Exit.GATE)


def _comparison(compared: ProfileComparison, width: int) -> Iterator[str | Table]:
    yield compared.title
    for table in side_by_side(profiles_table(compared), width):
        yield ""
        yield table
    yield ""
    yield from notes(compared)


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
    played: list[Played] = []
    try:
        _play_each(one, replace(chosen, model=one.script) if script else chosen, wanted, played)
    except KeyboardInterrupt as error:
        say(f"{len(played)} of {len(wanted)} profiles played", err=True)
        raise click.Abort from error
    finally:
        if played:
            _show_compared(played, scripted=script)
    require_answers(played)


def _play_each(one: NamedScenario, setup: Options, profiles: Sequence[str], played: list[Played]) -> None:
    """Play the scenario under each profile; results are added to `played`, so that a failure keeps them."""
    with Progress() as progress:
        for number, profile in enumerate(profiles):

            def tell(record: Record, what: str = f"{number + 1} of {len(profiles)}: {profile}") -> None:
                call = record.event.call if isinstance(record.event, ModelRequested) else 0
                progress(f"{what}, model call {call}" if call else what, 0, 0)

            played.append(play(one, setup, profile=profile, tell=tell))


def _show_compared(played: Sequence[Played], *, scripted: bool) -> None:
    compared = compare_profiles([one.result for one in played], scripted=scripted)
    report = _comparison(compared, terminal_width())
    show(compared_json(compared, [one.session for one in played]), report)


@session_command(takes=COMMON)
@click.argument("asked", metavar="QUESTION")
@click.option("--client", metavar="NAME", help="Run this installed client in place of Toolsight's own chat.")
@as_json
@click.pass_context
def race(context: click.Context, /, asked: str, client: str | None, chosen: Options) -> None:
    """Ask once with all tools bound and once with discovery.

    Discovery uses --profile, or else the profile of the configuration. Calls that may change something are
    skipped, because they would run twice, unless you pass --yes or use the demo's servers. To compare the
    script of a scenario instead, use `toolsight scenario compare NAME`.

    With --client, an installed client runs twice in front of `toolsight gateway`: with every tool listed, and
    with its search. A stand-in on this machine answers in place of the client's model, so it needs no key.
    With --model PROVIDER/MODEL that one answers instead, with your key from the environment, after an
    estimate and a yes. Your client's own files stay as they are.

    \b
    toolsight race "Which orders are late?" server.py
    toolsight race --client claude-code "Which orders are late?" --demo
    toolsight race --client codex --model openai/gpt-5.2 "Which orders are late?" --demo
    """
    if client is not None:
        lent("client race")(client, asked, chosen, chosen.model if names_model(context) else "")
        return
    require_own_mind(chosen.model)
    ground = Ground(read_configuration(chosen).unrestricted, chosen.model, chosen.toolset)
    own = ground.configuration.profile
    other = chosen.profile or (own if own != STATIC else "") or DEFAULT_PROFILE
    if other == STATIC:
        hint = "Choose another profile with --profile; see `toolsight config settings --profiles`."
        raise ConfigError("static binding cannot race against itself", hint=hint)
    raced = Race(question(asked), (STATIC, other))
    played = run(_race(raced, ground, chosen))
    assert raced.verdict is not None
    show(race_json(raced, raced.verdict, [one.session for one in played]), race_report(raced, raced.verdict))
    require_answers(played)


async def _race(race: Race, ground: Ground, setup: Options) -> list[Played]:
    """Run both sides at once."""
    played: dict[int, Played] = {}
    with Progress() as progress:

        async def play(side: Side) -> ScenarioResult:
            def listen(record: Record) -> None:
                side.listen(record)
                if isinstance(record.event, ModelRequested):
                    calls = ", ".join(f"{one.profile} {one.model_calls}" for one in race.racers)
                    progress(f"model calls: {calls}", 0, 0)

            mine = replace(setup, values=side.values)
            session = open_lab.open_lab(race.scenario, mine, side.profile, tell=listen, ground=ground)
            async with session as opened:
                race.prices = opened.bench.accounting.prices()
                result = await opened.run.run()
                played[side.number] = Played(race.scenario.title, opened.bench.session_id, result)
            return result

        await run_race(race, setup.values, play)
    return [played[number] for number in sorted(played)]
