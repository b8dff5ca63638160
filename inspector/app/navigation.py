"""The destinations that a page can open. `pages.registry` maps each to its screen."""

from dataclasses import dataclass

from inspector.domain.ranking import SearchReport, SearchRequest


@dataclass(frozen=True, slots=True)
class Page:
    """A page directly above the session, by its name in the registry."""

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
)
