"""What a feature declares: its pages, its commands, and what it gives them. The shells are made of it."""

from collections.abc import Callable, Mapping
from importlib import import_module
from threading import Lock
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

T = TypeVar("T")


class Part(Struct, Generic[T], frozen=True, eq=False):
    """The key of something that a feature gives its pages.

    What is known `beside_session` is not for who may see only some tools.
    """

    beside_session: bool = False


Given = Mapping[Part[Any], object]
"""Parts by their keys."""


class Parts:
    """What features give their pages, by its key: made when something is first asked for, in any thread."""

    def __init__(self, make: Callable[[], Given] = dict) -> None:
        self._make, self._lock = make, Lock()
        self._given: Given | None = None

    def get(self, part: Part[T]) -> T | None:
        """What is given under this key; None if nothing is."""
        return cast("T | None", self._made().get(part))

    def of_session(self) -> "Parts":
        """Without what is known beside the session."""
        return Parts(lambda: {part: one for part, one in self._made().items() if not part.beside_session})

    def _made(self) -> Given:
        with self._lock:
            if self._given is None:
                self._given = self._make()
            return self._given


class PageInfo(Struct, frozen=True):
    """A page of one of the app's places. `at` is its class, as `module:name` in the feature's folder.

    `part_of` names the page whose screen also shows this one; such a page has no class of its own.
    A page that is a `view_of` another one is not listed: a key on that page opens it. One with
    `has_content`, which is asked with the workbench and the parts in a thread, is listed if that is true or
    raises ToolsightError. The palette has all of them.
    """

    name: str
    title: str
    help: str
    place: str
    at: str = ""
    part_of: str = ""
    view_of: str = ""
    has_content: Callable[[Any, Parts], bool] | None = None

    @property
    def screen(self) -> str:
        """The name of the screen that shows the page."""
        return self.part_of or self.name


class CommandInfo(Struct, frozen=True):
    """A command by its words, such as `sessions show`. `at` is `module:name` in the feature's folder.

    `section` is its heading in the program's help; what is part of a group has none. It `shows` what these
    pages do.
    """

    words: str
    at: str
    section: str = ""
    shows: tuple[str, ...] = ()


class Feature(Struct, frozen=True):
    """What a person can do, in one folder below `inspector.features`.

    What it adds beyond pages and commands is named like a command's `at`, and imported when it is needed; the
    shells find it in the list of features, so that a session knows no feature:

    - `compose` makes, of the command line's options and the `Ports` of a session, the ports with its own in
      them. A session searches, installs and starts with what the ports have.
    - `stores` makes, of the options, tools that are known without a connection: `StoredTools`. One feature
      has it.
    - `provide` makes the parts of its pages, of the options and the open workbench.
    - `models` makes, of a name that begins with `demo/` and a window in tokens, the `ChatModel` of that name
      which needs no key; None if it has none.
    - `lends` gives names to what commands of other features use; one name is lent by one feature.
    """

    name: str
    pages: tuple[PageInfo, ...] = ()
    commands: tuple[CommandInfo, ...] = ()
    compose: str = ""
    stores: str = ""
    provide: str = ""
    models: str = ""
    lends: Mapping[str, str] = {}

    def place_of(self, at: str) -> tuple[str, str]:
        """The whole name of a module in the feature's folder, and the name in it."""
        module, _, name = at.partition(":")
        return f"inspector.features.{self.name}.{module}", name

    def made(self, at: str) -> Any:
        """What stands there, imported now."""
        module, name = self.place_of(at)
        return getattr(import_module(module), name)
