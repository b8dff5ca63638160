"""Every page's screen is a mode of Textual, so a page stays as it was left, and its work goes on."""

from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.command import CommandPalette
from textual.keys import Keys
from textual.reactive import reactive
from textual.screen import ModalScreen, Screen
from textual.timer import Timer

from inspector.app.place import (
    PLACES,
    SCREENS,
    Activity,
    Destination,
    Place,
    Where,
    digit,
    page_after,
    page_info,
    place_of,
)
from inspector.app.terminal import TerminalApp

if TYPE_CHECKING:
    from inspector.app.base_screen import BaseScreen

_BETWEEN = "between"
# Esc and a digit within a tenth of a second reach an app as alt and the digit, for which Textual has the
# character that a Mac types so. Here they are what they are anywhere else: leave, then go to the place.
cast("dict[str, object]", ANSI_SEQUENCES_KEYS).update(
    {f"\x1b{digit(place)}": (Keys.Escape, Keys[f"F{digit(place)}"]) for place in PLACES}
)
# Seconds between two looks at what is measured.
_LOOKS_EVERY = 0.25


def page_class(name: str) -> "type[BaseScreen]":
    """Return the class of a page, which is imported when it is first opened; that takes a moment."""
    module, attribute = SCREENS[name]
    screen: type[BaseScreen] = getattr(import_module(module), attribute)
    return screen


class PlaceApp(TerminalApp[None]):
    """Goes from page to page.

    `activities` is what their screens measure now, `filled` the optional pages that have something to show.
    """

    activities: reactive[tuple[Activity, ...]] = reactive((), init=False)
    filled: reactive[frozenset[str]] = reactive(frozenset[str], init=False)

    def __init__(self) -> None:
        super().__init__()
        self._pages: dict[str, BaseScreen] = {}
        self._newest: dict[str, str] = {}
        self._trail: list[str] = []
        self._looks: Timer | None = None
        self.holds_keys = True  # What is typed before there is a page is for the first one.
        for screen in {info.screen for place in PLACES for info in place.pages}:
            self.add_mode(screen, partial(self._opened_page, screen))

    async def answer(self, event: events.Event) -> None:
        """Pass on what goes on under a question."""
        if not self._goes_below(event):
            await super().answer(event)

    def _goes_below(self, event: events.Event) -> bool:
        """Whether what is typed is not for the question that came up."""
        if not isinstance(self.screen, ModalScreen):
            return False
        from widgets import Guarded

        return isinstance(self.screen, Guarded) and self.screen.pass_on(event)

    def new_page(self, name: str) -> "BaseScreen":
        """Return a new screen for a page."""
        return page_class(name)()

    def _opened_page(self, name: str) -> "BaseScreen":
        screen = self._pages[name] = self.new_page(name)
        # Its styles, before Textual reads them and parses those of everything else again.
        for path in screen.css_path:
            if not self.stylesheet.has_source(str(path)):
                self.stylesheet.read(path)
        # A screen takes its styles as it is mounted. Without this, Textual would parse every style sheet
        # three times more for it: half of what going to a page for the first time takes.
        screen._css_update_count = self._css_update_count
        screen.fit(self.size)
        return screen

    @property
    def page(self) -> str:
        """The page that is shown, "" before there is one."""
        pages = (getattr(screen, "page", "") for screen in reversed(self.screen_stack))
        return next(filter(None, pages), "")

    @property
    def where(self) -> Where:
        """The page that is shown, what is measured in the background, and which pages are listed."""
        return Where(self.page, self.activities, self.filled)

    @property
    def can_go(self) -> bool:
        """Whether another page may be shown: a question above a page waits for its answer."""
        return bool(self.page) and not isinstance(self.screen, ModalScreen | CommandPalette)

    def open(self, destination: Destination) -> None:
        """Go to the page of a destination, and show the destination there; back leads here again."""
        page, here = destination.page, self.page
        if here and page_info(page).screen != self.current_mode:
            self._trail.append(here)
        screen = self.go(page)
        screen.when_ready(partial(screen.arrive, destination))

    def go(self, page: str) -> "BaseScreen":
        """Show a page as it was left, and return its screen."""
        info = page_info(page)
        self._newest[place_of(page).name] = page
        self.switch_mode(info.screen)
        screen = self._pages[info.screen]
        screen.when_ready(partial(screen.show_page, page))
        return screen

    async def renew_pages(self, begin: Callable[[], Awaitable[None]], page: str) -> None:
        """Show nothing while something else begins, then `page`, as if no page had ever been opened.

        If that fails every page is as it was left, and the error is raised.
        """
        before = self.current_mode
        self.add_mode(_BETWEEN, Screen)
        await self.switch_mode(_BETWEEN)
        try:
            await begin()
        except BaseException:
            await self.switch_mode(before)
            await self.remove_mode(_BETWEEN)
            raise
        for name in tuple(self._pages):
            await self.remove_mode(name)
            self.add_mode(name, partial(self._opened_page, name))
        for kept in (self._pages, self._newest, self._trail):
            kept.clear()
        self.clear_notifications()
        self.activities = ()
        self.go(page)
        await self.remove_mode(_BETWEEN)

    def _only_pages(self) -> None:
        """Close what was opened above the page."""
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def first_page(self, place: Place) -> str:
        """The page that a place opens on the first time."""
        return place.pages[0].name

    def action_place(self, name: str) -> None:
        """Go to a place; from the place itself, to its next page."""
        if not self.can_go:
            return
        here, place = self.page, next(place for place in PLACES if place.name == name)
        self._trail.clear()
        if place_of(here) is not place:
            self.go(self._newest.get(name) or self.first_page(place))
        elif len(self.screen_stack) > 1:
            self._only_pages()
        else:
            self.go(page_after(here, self.filled))

    def action_page(self, name: str) -> None:
        """Go to a page."""
        if self.can_go:
            self._trail.clear()
            self.go(name)
            self._only_pages()

    async def action_back(self) -> None:
        """Close what was opened above the page, or go where a page was opened from."""
        if len(self.screen_stack) > 1:
            self.pop_screen()
        elif self._trail:
            self.go(self._trail.pop())

    def measuring(self) -> None:
        """Look again what is measured, and then now and again until nothing is."""
        if self._looks is None:
            self._looks = self.set_interval(_LOOKS_EVERY, self._look)
        self._look()

    def _look(self) -> None:
        found = (page.activity for page in self._pages.values() if page.is_attached)
        self.activities = tuple(activity for activity in found if activity is not None)
        if not self.activities and self._looks is not None:
            self._looks.stop()
            self._looks = None

    def action_stop_measuring(self) -> None:
        """Stop everything that is measured in the background."""
        for activity in self.activities:
            activity.stop()
        self._look()
