"""Discovery accuracy of played scenarios (semantic tool discovery, section 11.3, equation 4)."""

import statistics
from collections.abc import Sequence

from inspector.domain.report import Section, Table
from inspector.research.source import PlayedScenario, Source, Steps

# Section 11.3: the median over production sessions.
PUBLISHED = 0.7


def accuracy(source: Source, steps: Steps) -> Section:
    """Equation 4 over every shipped scenario. Raises ToolsightError and Stopped."""
    played = source.played(steps)
    return Section(
        id="accuracy",
        title="Discovery accuracy",
        source="semantic tool discovery, section 11.3, equation 4",
        measured=(
            f"|discovered and used| / |discovered| of the {len(played)} shipped scenarios, each played on "
            "the demo servers with real searches and calls. What the user says and what the model calls "
            "is written in the scenario: this measures how much a search loads that nobody calls, not how "
            "well a model chooses. Most scenarios are about a guard or a limit, and are no sample of "
            "anybody's work"
        ),
        tables=(_table(played), _median(played)),
        findings=(
            "The paper reads .7 as “70% of the tools that searches surface are used”; a median over "
            "sessions does not give a share of tools: half of the sessions may be far below it.",
        ),
    )


def _table(played: Sequence[PlayedScenario]) -> Table:
    headers = ("scenario", "searches", "discovered", "of them used", "accuracy")
    return Table("The scenarios", headers, tuple(map(_row, played)), frozenset(range(1, 5)))


def _row(one: PlayedScenario) -> tuple[str, ...]:
    state = one.state
    used = len(state.discovered & state.used)
    return one.name, f"{state.searches}", f"{len(state.discovered)}", f"{used}", _number(state.accuracy)


def _median(played: Sequence[PlayedScenario]) -> Table:
    accuracies = [one.state.accuracy for one in played if one.state.accuracy is not None]
    discovered = sum(len(one.state.discovered) for one in played)
    used = sum(len(one.state.discovered & one.state.used) for one in played)
    rows = (
        (
            f"median of the {len(accuracies)} scenarios that discovered something",
            f"{PUBLISHED:g}",
            _number(statistics.median(accuracies) if accuracies else None),
        ),
        ("share of all discovered tools", "–", _number(used / discovered if discovered else None)),
    )
    return Table("Equation 4", ("accuracy", "paper", "measured"), rows, frozenset({1, 2}))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
