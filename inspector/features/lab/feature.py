"""Scenarios, profiles side by side, the race, and recorded runs."""

from typing import TYPE_CHECKING

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part

if TYPE_CHECKING:
    from inspector.features.lab.ground import Lab
    from inspector.features.lab.runs.recording import RunSource


LAB: "Part[Lab]" = Part(beside_session=True)
RUNS: "Part[RunSource]" = Part()


FEATURE = Feature(
    "lab",
    pages=(
        PageInfo(
            "race",
            "race",
            "The last question with every tool bound and with discovery.",
            "chat",
            at="race.page:RaceScreen",
        ),
        PageInfo(
            "runs",
            "recorded runs",
            "Recorded sessions under three profiles.",
            "lab",
            at="runs.page:RecordedRunsScreen",
            view_of="bench",
        ),
        PageInfo(
            "scenarios",
            "scenarios",
            "Run scenarios; see what the guards count.",
            "lab",
            at="page:ScenarioScreen",
        ),
    ),
    commands=(
        CommandInfo("race", "command:race", "Cost", shows=("race",)),
        CommandInfo("scenario", "command:scenario", "Talk"),
        CommandInfo("scenario run", "command:run_scenarios"),
        CommandInfo("scenario compare", "command:compare"),
        CommandInfo("bench runs", "runs.command:runs"),
    ),
    provide="open_lab:provide",
    models="scenario:model",
)
