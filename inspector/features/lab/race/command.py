"""`toolsight race`: a question with static binding and with discovery."""

from dataclasses import replace

import click

from inspector.cli.configuration import read_configuration
from inspector.cli.options import COMMON, Options, as_json, session_command
from inspector.cli.run import run
from inspector.cli.table import Progress, show
from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.error import ConfigError
from inspector.core.events import ModelRequested, Record
from inspector.features.lab import open_lab as lab
from inspector.features.lab.comparison import STATIC, ScenarioResult
from inspector.features.lab.ground import Ground, question, require_own_mind
from inspector.features.lab.open_lab import Played, require_answers
from inspector.features.lab.race.facts import race_json, race_report
from inspector.features.lab.race.race import Race, Side, run_race


@session_command(takes=COMMON)
@click.argument("asked", metavar="QUESTION")
@as_json
def race(asked: str, chosen: Options) -> None:
    """Ask once with all tools bound and once with discovery.

    Discovery uses --profile, or else the profile of the configuration. Calls that may change something are
    skipped, because they would run twice, unless you pass --yes or use the demo's servers. To compare the
    script of a scenario instead, use `toolsight scenario compare`.

    \b
    toolsight race "Which orders are late?" server.py
    """
    require_own_mind(chosen.model)
    ground = Ground(read_configuration(chosen).unrestricted, chosen.model, chosen.toolset)
    own = ground.configuration.profile
    other = chosen.profile or (own if own != STATIC else "") or DEFAULT_PROFILE
    if other == STATIC:
        hint = "Choose another profile with --profile; see `toolsight config settings --profiles`."
        raise ConfigError("static binding cannot race against itself", hint=hint)
    raced = Race(question(asked), (STATIC, other))
    played = run(_run(raced, ground, chosen))
    assert raced.verdict is not None
    show(race_json(raced, raced.verdict, [one.session for one in played]), race_report(raced, raced.verdict))
    require_answers(played)


async def _run(race: Race, ground: Ground, setup: Options) -> list[Played]:
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
            session = lab.open_lab(race.scenario, mine, side.profile, tell=listen, ground=ground)
            async with session as opened:
                race.prices = opened.bench.accounting.prices()
                result = await opened.run.run()
                played[side.number] = Played(race.scenario.title, opened.bench.session_id, result)
            return result

        await run_race(race, setup.values, play)
    return [played[number] for number in sorted(played)]
