"""Discovery accuracy (semantic tool discovery, section 11.3, equation 4): requests first, then scenarios."""

import statistics
from collections.abc import Sequence

from inspector.core.report import Origin, Section, Table
from inspector.core.settings import DiscoverySettings
from inspector.research.labelled import Answers, RequestSet, index_of, request_sets, searched
from inspector.research.recorded import recorded
from inspector.research.source import PlayedScenario, Source, Steps

# Section 11.3: the median over production sessions.
PUBLISHED = 0.7
_SCRIPTED = (
    "The scripts name the tools that are called, and most are about a guard or a limit: what they use of "
    "what they find was written down, not chosen."
)


def accuracy(source: Source, steps: Steps) -> Section:
    """Equation 4 over labelled requests and every shipped scenario. Raises ToolsightError and Stopped."""
    asked = [
        (one, searched(one, index_of(one, source, steps), source.clock, steps))
        for one in request_sets(source)
    ]
    played = source.played(steps)
    tables = (_table(played), _median(played))
    return Section(
        id="accuracy",
        title="Discovery accuracy",
        source="semantic tool discovery, section 11.3, equation 4",
        measured=(
            "|discovered and used| / |discovered|. Over real catalogs: one search with the default settings "
            "for each labelled request, this project's own or those that came with the catalog, for an agent "
            "that calls each tool that it found and that the request needs, and no other. No model was used: "
            "it is the most that such a search allows, not what a model makes of it"
        ),
        tables=(_requests(asked), *tables) if asked else tables,
        findings=(
            "The paper reads .7 as “70% of the tools that searches surface are used”; a median over "
            "sessions does not give a share of tools: half of the sessions may be far below it.",
        ),
        recorded=recorded("equation 4 over what agents searched for and then called (column “used”)"),
    )


def _requests(asked: Sequence[tuple[RequestSet, Answers]]) -> Table:
    results = DiscoverySettings().max_search_results
    headers = (
        "requests",
        "number",
        "no tool fits",
        "discovered",
        "of them needed",
        "share [95 % interval]",
        "median",
        "median, paper",
    )
    return Table(
        "Requests over real catalogs",
        headers,
        tuple(_request_row(one, answers) for one, answers in asked),
        frozenset(range(1, len(headers))),
        (
            f"Most requests need one tool, and a search returns up to {results}: with {results} results the "
            f"accuracy is then {1 / results:.2f} at most. Whatever is found for a request that no tool fits "
            "counts as not used. Intervals are clustered by tool.",
        ),
    )


def _request_row(one: RequestSet, answers: Answers) -> tuple[str, ...]:
    share = answers.share
    return (
        f"{one.name}, {len(one.catalog.tools)} tools",
        f"{len(one.cases):,}",
        f"{sum(not case.is_possible for case in one.cases):,}",
        f"{answers.discovered:,}",
        f"{answers.used:,}",
        "–" if share is None else f"{share.mean:.2f} [{share.low:.2f}, {share.high:.2f}]",
        _number(answers.median),
        f"{PUBLISHED:g}",
    )


def _table(played: Sequence[PlayedScenario]) -> Table:
    headers = ("scenario", "searches", "discovered", "of them used", "accuracy")
    return Table(
        f"the {len(played)} shipped scenarios, played on the demo's servers",
        headers,
        tuple(map(_row, played)),
        frozenset(range(1, 5)),
        origin=Origin.CALIBRATION,
        why=_SCRIPTED,
    )


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
    headers = ("accuracy", "paper", "measured")
    return Table("equation 4 over the scenarios", headers, rows, frozenset({1, 2}), origin=Origin.CALIBRATION)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
