"""The destinations that a page can open. `pages.registry` maps each to its screen."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector.core.ranking import SearchReport, SearchRequest

if TYPE_CHECKING:
    from inspector.app.scenario_job import Choice, ScenarioFile
    from inspector.measure.evalset import LiveBench


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was left, by its name in `place.PLACES`."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolPage:
    """One tool of the catalog."""

    tool_id: str


@dataclass(frozen=True, slots=True)
class ServerPage:
    """One server of the configuration."""

    name: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A past search with its report, or a search to run now."""

    request: SearchRequest
    report: SearchReport | None = None


@dataclass(frozen=True, slots=True)
class WhyNotPage:
    """A tool beside the rival it has to beat."""

    tool_id: str
    request: SearchRequest


@dataclass(frozen=True, slots=True)
class ComparePage:
    """A query under every ranker; `pinned` is shown at any rank."""

    request: SearchRequest
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class StepsPage:
    """A request as one search, and as one search per step."""

    request: SearchRequest


@dataclass(frozen=True, slots=True)
class EditPage:
    """A tool's texts to edit, measured against a query."""

    tool_id: str
    query: str


@dataclass(frozen=True, slots=True)
class ConfusablePage:
    """The tools that a search may confuse."""


@dataclass(frozen=True, slots=True)
class MarketplacePage:
    """A plugin of the marketplace, among those that may serve a query."""

    plugin: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True)
class ScenarioPage:
    """A scenario by the name of its file, to be run now."""

    name: str


@dataclass(frozen=True, slots=True)
class RacePage:
    """The race of the conversation's last question, to be started now."""


@dataclass(frozen=True, slots=True)
class TracePage:
    """A recorded session, replayed from its first call."""

    session_id: str


@dataclass(frozen=True, slots=True)
class ThresholdPage:
    """The threshold of a ranker, measured at once; `live` has requests that are gathered already."""

    ranker: str
    live: "LiveBench | None" = None


@dataclass(frozen=True, slots=True)
class ProfilesPage:
    """A scenario under several profiles, beginning with the chosen one."""

    file: "ScenarioFile"
    choice: "Choice"


Destination = (
    Page
    | ServerPage
    | ToolPage
    | SearchPage
    | WhyNotPage
    | ComparePage
    | StepsPage
    | EditPage
    | ConfusablePage
    | MarketplacePage
    | TracePage
    | ThresholdPage
    | ProfilesPage
    | RacePage
    | ScenarioPage
)
