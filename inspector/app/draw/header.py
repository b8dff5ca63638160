"""The two lines at the top of every page: where one is, what else there is, and what is in force."""

from collections.abc import Callable, Iterator
from pathlib import PurePath

from textual.content import Content
from textual.widgets import Static

from inspector.app.draw.line import MUTED, problem_count
from inspector.app.place import PLACES, Activity, Where, digit, listed, place_of
from inspector.app.stream import LIVE, ReplayedState
from inspector.core.access import viewer
from inspector.core.session import SessionState
from widgets import link, middle, plain, visible


class Canvas(Static):
    """Calls `draw` with its width and height after every resize and on `redraw`.

    A canvas that is off screen has no size; it is drawn once it appears.
    """

    def __init__(self, draw: Callable[[int, int], Content], *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._draw_for = draw

    def on_resize(self) -> None:
        self.redraw()

    def watch_virtual_size(self) -> None:
        """Draw too when Textual sets a size without an event, as on a page shown again."""
        self.call_later(self.redraw)

    def redraw(self) -> None:
        """Draw the current content."""
        width, height = self.content_size
        if width:
            self.update(self._draw_for(width, height))


_GAP = "   "
_NAME = "Toolsight"
# A shortened name says something from here on.
_READABLE = 20
_LONGEST = 24


def header(session: SessionState, where: Where, width: int) -> Content:
    """Return both lines for a terminal of that width."""
    room = width - 2
    return Content("\n").join([_first_line(session, where, room), _second_line(session, where, room)])


def _first_line(session: SessionState, where: Where, room: int) -> Content:
    """The places with what they hold, then what is measured, and the servers that are up."""
    for gap, name, longest, is_short in (
        *((_GAP, _NAME, _LONGEST, False), ("  ", _NAME, _LONGEST, False), ("  ", "", _LONGEST, False)),
        *(("", "", _LONGEST, False), ("", "", _LONGEST // 2, False), ("", "", 0, False), ("", "", 0, True)),
    ):
        title = [Content.styled(name, "bold $primary")] if name else []
        left = Content(gap).join([*title, *_places(session, where.page)])
        busy = _activities(where.activities, longest)
        problems = problem_count(session.problems, is_short=is_short)
        state = Content("  ").join(
            [*busy, *([problems] if problems else []), _servers(session), link("?", "app.help()")]
        )
        if left.cell_length + 1 + state.cell_length <= room:
            break
    return Content.assemble(left, " " * max(room - left.cell_length - state.cell_length, 1), state)


def _places(session: SessionState, page: str) -> Iterator[Content]:
    here = place_of(page) if page else None
    for place in PLACES:
        # How much there is to see in a place, where anybody asks.
        held = f"{len(session.tools):,}" if place.name == "tools" and session.tools else ""
        text = " ".join(filter(None, (str(digit(place)), place.title, held)))
        if place is here:
            yield Content.styled(f"[{text}]", "bold $primary")
        else:
            yield link(f" {text} ", f"app.place('{place.name}')")


def _activities(activities: tuple[Activity, ...], longest: int) -> Iterator[Content]:
    """What is measured, its title in at most so many cells; a click on ✕ stops all of it."""
    if activities:
        more = f" +{len(activities) - 1}" if len(activities) > 1 else ""
        label = f"{middle(activities[0].title, longest)} {activities[0].share}".strip()
        yield Content.styled(f"◔ {label}{more} ", "$text-warning") + link("✕", "app.stop_measuring()")


def _servers(session: SessionState) -> Content:
    total, ready = len(session.servers), session.ready_servers
    color = "$text-success" if total and ready == total else "$text-warning"
    return Content.styled(f"{ready}/{total} up", color)


def _second_line(session: SessionState, where: Where, room: int) -> Content:
    """A replay's mark, the pages of the place, and the settings, which a click opens."""
    parts = [*_replay(session, room), *_viewer(session), *_pages(where)]
    lines = (Content(" " * gap).join(parts) for gap in range(len(_GAP), -1, -1))
    left = next((line for line in lines if line.cell_length <= room), Content().join(parts))
    facts = _facts(session, room - left.cell_length - len(_GAP))
    return Content.assemble(left, " " * max(room - left.cell_length - facts.cell_length, 1), facts)


def _viewer(session: SessionState) -> Iterator[Content]:
    """Who sees this, if a policy says what may be seen; a click changes it."""
    if session.is_restricted:
        shown = visible(viewer(session.user, session.expert), limit=_LONGEST, newlines=False)
        yield link(f"as {shown}", "app.ask('see_as')", "bold $text-warning")
    elif session.settings.get("access", {}).get("policy"):
        yield link("view as …", "app.ask('see_as')", MUTED)


def _pages(where: Where) -> Iterator[Content]:
    """The pages of the place; a place with one page has nothing to choose."""
    pages = listed(place_of(where.page), where.filled, where.page) if where.page else ()
    for info in pages if len(pages) > 1 else ():
        if info.name == where.page:
            yield Content.styled(f"[{info.title}]", "bold")
        else:
            yield link(f" {info.title} ", f"app.page('{info.name}')", MUTED)


def _facts(session: SessionState, room: int) -> Content:
    """What is in force, as much as fits: configuration, model, profile, toolset."""
    # A file by its name, an address without its scheme.
    _, is_address, rest = session.config.partition("://")
    facts = [
        ("", rest if is_address else PurePath(session.config).name),
        ("", session.model_label),
        ("profile ", session.profile),
        ("toolset ", session.toolset),
    ]
    shown: list[str] = []
    for label, value in facts:
        text = middle(value, max(room - len(label), 0))
        if not value or len(text) < min(len(value), _READABLE):
            continue
        piece = label + plain(text, newlines=False).plain
        room -= len(piece) + len(_GAP)
        if room < -len(_GAP):
            break
        shown.append(piece)
    return link(_GAP.join(shown), "app.settings()", MUTED) if shown else Content()


def _replay(session: SessionState, room: int) -> Iterator[Content]:
    if not isinstance(session, ReplayedState):
        return
    source = middle(session.source, max(room // 5, 8))
    is_live = session.moment == LIVE
    mark = Content(f" {'LIVE' if is_live else f'REPLAY {session.moment}'}{'  ' if source else ''}{source} ")
    live = link("back to now", "app.live()", MUTED)
    color = "$success" if is_live else "$warning"
    yield Content.assemble(mark.stylize(f"bold $background on {color}"), " ", live)
