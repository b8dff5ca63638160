"""Scenarios, profiles side by side, the race, and recorded runs."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

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
)
