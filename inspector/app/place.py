"""The six places of the app and their pages, as the lines on top, the digits and the palette name them."""

from collections.abc import Callable, Mapping
from typing import ClassVar

from msgspec import Struct

from inspector.core.feature import PageInfo
from inspector.core.ranking import SearchReport, SearchRequest
from inspector.features.feature_list import FEATURES


class Place(Struct, frozen=True):
    """One of the six parts of the app."""

    name: str
    title: str
    pages: tuple[PageInfo, ...]


_TITLES = {"chat": "Chat", "tools": "Tools", "find": "Search", "cost": "Cost", "trace": "Trace", "lab": "Lab"}
PLACES: tuple[Place, ...] = tuple(
    Place(name, title, tuple(page for feature in FEATURES for page in feature.pages if page.place == name))
    for name, title in _TITLES.items()
)
"""The places in the order of their digits; the first page of a place is what it opens with."""
SCREENS: Mapping[str, tuple[str, str]] = {
    page.name: feature.place_of(page.at) for feature in FEATURES for page in feature.pages if page.at
}
"""The module and the class of each page that has a screen of its own, by the page's name."""


def place_of(page: str) -> Place:
    """Return the place of a page. Raises KeyError."""
    for place in PLACES:
        if any(info.name == page for info in place.pages):
            return place
    raise KeyError(page)


def page_info(name: str) -> PageInfo:
    """Return a page by its name. Raises KeyError."""
    return next(info for info in place_of(name).pages if info.name == name)


def printed_by(page: str) -> tuple[str, ...]:
    """The words of the command that prints what a page shows; none if no command does."""
    commands = (command for feature in FEATURES for command in feature.commands)
    return next((tuple(one.words.split()) for one in commands if page in one.shows), ())


def listed(place: Place, filled: frozenset[str], here: str = "") -> tuple[PageInfo, ...]:
    """Return the pages of a place that its line lists; `filled` names those that have something to show.

    The page `here` is listed wherever it is, so that nobody is on a page without a name.
    """
    return tuple(
        info
        for info in place.pages
        if info.name == here or (not info.view_of and (info.has_content is None or info.name in filled))
    )


def page_after(page: str, filled: frozenset[str] = frozenset()) -> str:
    """Return the next listed page of the same place; after its last page comes its first."""
    here = page_info(page).view_of or page
    names = [info.name for info in listed(place_of(page), filled, here)]
    return names[(names.index(here) + 1) % len(names)]


def other_view(page: str) -> str:
    """Return the page that shows another view of this one, "" if there is none."""
    own = page_info(page).view_of
    return own or next((info.name for info in place_of(page).pages if info.view_of == page), "")


def digit(place: Place) -> int:
    """Return the digit that goes to a place."""
    return PLACES.index(place) + 1


class Activity(Struct, frozen=True):
    """A measurement that runs: its title, and how far it is in steps; a `total` of 0 is not known yet."""

    title: str
    stop: Callable[[], object]
    done: int = 0
    total: int = 0

    @property
    def share(self) -> str:
        """How much is done: `34 %`, or `…` while that is not known."""
        return f"{self.done * 100 // self.total} %" if self.total else "…"


class Where(Struct, frozen=True):
    """The page that is shown, what is measured in the background, and the optional pages that are listed."""

    page: str = ""
    activities: tuple[Activity, ...] = ()
    filled: frozenset[str] = frozenset()


class Destination(Struct, frozen=True):
    """What a page can be asked to show; `page` is the name of that page, by default the search."""

    page: ClassVar[str] = "search"


class Page(Destination, frozen=True, dict=True):
    """A page as it was left, by its name in `place.PLACES`."""

    # Of this kind each has another one.
    page: str  # type: ignore[misc]


class ToolPage(Destination, frozen=True):
    """One tool of the catalog."""

    page = "servers"
    tool_id: str


class ServerPage(Destination, frozen=True):
    """One server of the configuration."""

    page = "servers"
    name: str


class FindingsPage(Destination, frozen=True):
    """What is found about a tool or a server, by default about all, at one stage or at all of them."""

    page = "findings"
    subject: str = ""
    stage: str = ""


class SearchPage(Destination, frozen=True):
    """A past search with its report, or a search to run now."""

    request: SearchRequest
    report: SearchReport | None = None


class WhyNotPage(Destination, frozen=True):
    """A tool beside the rival it has to beat."""

    tool_id: str
    request: SearchRequest


class EditPage(Destination, frozen=True):
    """A tool's texts to edit, measured against a query."""

    tool_id: str
    query: str


class WorklistPage(Destination, frozen=True):
    """Requests to keep in sight, each with the tool it should find."""

    wanted: tuple[tuple[SearchRequest, str], ...]


class MarketplacePage(Destination, frozen=True):
    """A plugin of the marketplace, among those that may serve a query."""

    page = "marketplace"
    plugin: str = ""
    query: str = ""


class RacePage(Destination, frozen=True):
    """The race of the conversation's last question, to be started now."""

    page = "race"


class TracePage(Destination, frozen=True):
    """A recorded session, replayed from its first call."""

    page = "timeline"
    session_id: str


class RunsPage(Destination, frozen=True):
    """Recorded runs, played at once: imported sessions if there are any, else what ships."""

    page = "runs"
