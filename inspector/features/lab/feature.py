"""Scenarios, profiles side by side, the race, and recorded runs."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from inspector.core.feature import CommandInfo, Feature, PageInfo, Part

if TYPE_CHECKING:
    from inspector.cli.options import Options
    from inspector.features.lab.runs.recorded_session import RunSource
    from inspector.features.lab.scenario_job import Lab
    from inspector.session.assembly import Ports
    from inspector.session.workbench import Workbench


LAB: "Part[Lab]" = Part(beside_session=True)
RUNS: "Part[RunSource]" = Part()


def provide(options: "Options", _bench: "Workbench") -> Mapping[Part[Any], object]:
    """What plays scenarios and recorded runs."""
    from inspector.cli.location import shipped_recording
    from inspector.features.lab.open_lab import ShippedLab
    from inspector.features.lab.runs.recorded_session import RunSource

    def ports() -> "Ports":
        from inspector.features.lab.runs.command import recorded_ports

        return recorded_ports(options.database)

    return {LAB: ShippedLab(options), RUNS: RunSource(shipped_recording(), ports)}


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
        CommandInfo("race", "race.command:race", "Cost"),
        CommandInfo("scenario", "command:scenario", "Talk"),
        CommandInfo("scenario run", "command:run_scenarios"),
        CommandInfo("scenario compare", "compare_command:compare"),
        CommandInfo("bench runs", "runs.command:runs"),
    ),
    provide=provide,
)
