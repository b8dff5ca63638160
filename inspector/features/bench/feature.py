"""How well every ranker finds the right tools."""

from inspector.core.feature import CommandInfo, Feature, PageInfo

FEATURE = Feature(
    "bench",
    pages=(
        PageInfo(
            "bench",
            "benchmark",
            "Measure how well every ranker finds the right tools.",
            "lab",
            at="page:BenchScreen",
        ),
    ),
    commands=(
        CommandInfo("bench", "command:bench", "Find", shows=("bench",)),
        CommandInfo("bench label", "dataset:label"),
    ),
)
