"""Where a page can send a person. A page names a destination; `pages.registry` knows its screen."""

from dataclasses import dataclass

from inspector.domain.ranking import SearchReport, SearchRequest


@dataclass(frozen=True, slots=True)
class Page:
    """One of the pages that stand directly above the session, by its name in the registry."""

    name: str


@dataclass(frozen=True, slots=True)
class ToolPage:
    """One tool of the catalog."""

    tool_id: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A search that was made, with its report, or one to be made now."""

    request: SearchRequest
    report: SearchReport | None = None


@dataclass(frozen=True, slots=True)
class WhyNotPage:
    """A tool against the one that it has to beat."""

    tool_id: str
    request: SearchRequest


@dataclass(frozen=True, slots=True)
class ComparePage:
    """A query under every ranker; `pinned` is shown wherever it stands."""

    request: SearchRequest
    pinned: str = ""


@dataclass(frozen=True, slots=True)
class StepsPage:
    """A request as a whole, and as one search a step."""

    request: SearchRequest


@dataclass(frozen=True, slots=True)
class EditPage:
    """A tool's texts, to be edited against a query."""

    tool_id: str
    query: str


@dataclass(frozen=True, slots=True)
class ConfusablePage:
    """The tools that a search may take for one another."""


Destination = Page | ToolPage | SearchPage | WhyNotPage | ComparePage | StepsPage | EditPage | ConfusablePage
