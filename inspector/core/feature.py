"""What a feature of Toolsight declares: its pages and its commands. The shells are made of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageInfo:
    """A page of one of the app's places. `at` is its class, as `module:name` in the feature's folder.

    `part_of` names the page whose screen also shows this one; such a page has no class of its own.
    A page that is a `view_of` another one is not listed: a key on that page opens it. One with
    `is_optional` is listed once it has something to show. The palette has all of them.
    """

    name: str
    title: str
    help: str
    place: str
    at: str = ""
    part_of: str = ""
    view_of: str = ""
    is_optional: bool = False

    @property
    def screen(self) -> str:
        """The name of the screen that shows the page."""
        return self.part_of or self.name


@dataclass(frozen=True, slots=True)
class CommandInfo:
    """A command by its words, such as `sessions show`. `at` is `module:name` in the feature's folder.

    `section` is its heading in the program's help; what is part of a group has none.
    """

    words: str
    at: str
    section: str = ""


@dataclass(frozen=True, slots=True)
class Feature:
    """What a person can do, in one folder below `inspector.features`."""

    name: str
    pages: tuple[PageInfo, ...] = ()
    commands: tuple[CommandInfo, ...] = ()

    def place_of(self, at: str) -> tuple[str, str]:
        """The whole name of a module in the feature's folder, and the name in it."""
        module, _, name = at.partition(":")
        return f"inspector.features.{self.name}.{module}", name
