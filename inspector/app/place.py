"""The six places of the app and their pages, as the lines on top, the digits and the palette name them."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page of a place. `part_of` names the page whose screen also shows this one."""

    name: str
    title: str
    help: str
    part_of: str = ""

    @property
    def screen(self) -> str:
        """The name of the screen that shows the page."""
        return self.part_of or self.name


@dataclass(frozen=True, slots=True)
class Place:
    """One of the six parts of the app."""

    name: str
    title: str
    pages: tuple[PageInfo, ...]


PLACES: tuple[Place, ...] = (
    Place(
        "chat",
        "Chat",
        (
            PageInfo("session", "conversation", "Talk to a model; see what each call is sent."),
            PageInfo("race", "race", "The last question with every tool bound, and with discovery."),
        ),
    ),
    Place(
        "tools",
        "Tools",
        (
            PageInfo("servers", "servers", "Every server and tool; stderr; call a tool."),
            PageInfo(
                "clients", "in clients", "What Claude Code, Codex, VS Code and others make of the tools."
            ),
            PageInfo("manifest", "as sent", "What the model is sent, exactly."),
            PageInfo("confusable", "alike", "Tools that a search may confuse."),
            PageInfo("registry", "registry", "Tools kept with their versions, connected or not."),
            PageInfo("marketplace", "marketplace", "Servers that could be installed, and what they start."),
            PageInfo("access", "access", "Who may see which tools, and which grant decides."),
        ),
    ),
    Place("find", "Find", (PageInfo("search", "search", "Search, and see why a tool is found or not."),)),
    Place(
        "cost",
        "Cost",
        (
            PageInfo("budget", "next request", "What the next request costs, and what-if."),
            PageInfo("calls", "call by call", "What every model call cost, with its prompt cache.", "budget"),
            PageInfo("ways", "ways to deliver", "The same calls under five deliveries.", "budget"),
            PageInfo("machine", "this machine", "What the configurations of every MCP client cost."),
        ),
    ),
    Place(
        "trace",
        "Trace",
        (
            PageInfo("events", "events", "Every event of the session."),
            PageInfo("timeline", "timeline", "Every model call; recorded sessions; replay any moment."),
            PageInfo("flow", "flow", "What is called after what, by whom, and how sure that is."),
            PageInfo(
                "sessions", "sessions", "Every session; import those of real agents, and what they missed."
            ),
            PageInfo(
                "telemetry",
                "telemetry",
                "Searches, uses, latencies, failures, breakers; what was not served.",
            ),
        ),
    ),
    Place(
        "lab",
        "Lab",
        (
            PageInfo("bench", "rankers", "Measure how well every ranker finds the right tools."),
            PageInfo("threshold", "threshold", "Find the thresholds from which on a search answers."),
            PageInfo("scenarios", "scenarios", "Run scenarios; see what the guards count."),
            PageInfo("profiles", "profiles", "One scenario under several profiles, side by side."),
            PageInfo("published", "published results", "Measure published results again."),
        ),
    ),
)
"""The places in the order of their digits; the first page of a place is what it opens with."""


def place_of(page: str) -> Place:
    """Return the place of a page. Raises KeyError."""
    for place in PLACES:
        if any(info.name == page for info in place.pages):
            return place
    raise KeyError(page)


def page_info(name: str) -> PageInfo:
    """Return a page by its name. Raises KeyError."""
    return next(info for info in place_of(name).pages if info.name == name)


def page_after(page: str) -> str:
    """Return the next page of the same place; after its last page comes its first."""
    names = [info.name for info in place_of(page).pages]
    return names[(names.index(page) + 1) % len(names)]


def digit(place: Place, places: Sequence[Place] = PLACES) -> int:
    """Return the digit that goes to a place."""
    return places.index(place) + 1
