"""The registry of commands and keys, for bindings, palette and help; a person's own keys; the palette."""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct
from msgspec.structs import replace
from textual.binding import Binding, BindingsMap
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content
from textual.dom import DOMNode
from textual.keys import _character_to_key
from textual.types import IgnoreReturnCallbackType

from inspector.app.place import PLACES, SCREENS, digit, listed
from inspector.core.text import closest

if TYPE_CHECKING:
    from inspector.app.context import Context


class Command(Struct, frozen=True):
    """A command that works anywhere in the app. `action` is a Textual action of the app.

    `keys` is empty for what only the palette offers. `shown` is how the footer names the keys of all places.
    """

    id: str
    keys: str
    title: str
    action: str
    help: str
    in_footer: bool = False
    shown: str = ""

    def bindings(self) -> Iterator[Binding]:
        """Return the bindings: F-keys work where a text is edited, and the app can be left from anywhere."""
        title = "places" if self.shown else self.title
        for number, key in enumerate(filter(None, self.keys.split(","))):
            is_first = number == 0
            yield Binding(
                key,
                self.action,
                title,
                id=self.id if is_first else f"{self.id}.{key}",
                show=self.in_footer and is_first,
                key_display=self.shown or None,
                priority=not is_first or self.id == "quit",
            )


def _place_commands() -> tuple[Command, ...]:
    """A digit goes to its place, and from a place to its next page; F-keys do the same inside inputs."""
    last = len(PLACES)
    return tuple(
        Command(
            f"place.{place.name}",
            f"{digit(place)},f{digit(place)}",
            place.title,
            f"place('{place.name}')",
            " · ".join(page.title for page in listed(place, frozenset())),
            in_footer=digit(place) == 1,
            shown=f"1-{last}" if digit(place) == 1 else "",
        )
        for place in PLACES
    )


COMMANDS: tuple[Command, ...] = (
    *_place_commands(),
    Command("settings", "ctrl+o", "settings", "settings", "Model, toolset, profile and every setting.", True),
    Command(
        "theme", "ctrl+l", "light/dark theme", "toggle_theme", "Switch between the dark and light themes."
    ),
    Command("model", "", "model", "ask('model')", "Switch to another model."),
    Command("toolset", "", "toolset", "ask('toolset')", "Restrict the catalog to a toolset."),
    Command("see_as", "", "view as", "ask('see_as')", "Start a session as one of the policy's users."),
    Command("milestone", "", "milestone", "ask('milestone')", "Mark a milestone as reached."),
    Command("index.stop", "", "stop embedding", "stop_embedding", "Stop embedding and search what is ready."),
    Command("stop", "", "stop measuring", "stop_measuring", "Stop measurements running in the background."),
    Command("export", "x", "export", "export", "Write this page, or its session, to a file to send."),
    Command("help", "question_mark", "help", "help", "Explain this page and list every key.", True),
    Command("quit", "ctrl+q", "quit", "quit", "Stop the servers and quit.", True),
)


def bindings() -> list[Binding]:
    """The app's key bindings."""
    return [binding for command in COMMANDS for binding in command.bindings()]


def shown_keys(command: Command) -> str:
    """The keys of a command as shown to people."""
    return command.keys.replace("question_mark", "?").replace(",", " or ")


_LONGEST = 60
_LIST = "in every list"


class BoundKeys(Struct, frozen=True):
    """The keys of one action by the id of its binding; `where` says on which pages they work."""

    id: str
    keys: str
    title: str
    where: str


def bound_keys(app: type[DOMNode]) -> tuple[BoundKeys, ...]:
    """Return every action of the app whose keys can be changed: everywhere, in lists, and page by page."""
    pages = tuple(_pages())
    found: dict[str, BoundKeys] = {}
    on_pages = Counter(bound.id for page in pages for bound in page)
    for bound in chain(_everywhere(app), *pages):
        found.setdefault(bound.id, _shared(bound, on_pages[bound.id], len(pages)))
    return tuple(found.values())


def _shared(bound: BoundKeys, pages: int, of: int) -> BoundKeys:
    """Return the keys with where they work: on one page, on several, or on all."""
    if pages < 2:
        return bound
    return replace(bound, where="every page" if pages == of else f"{pages} pages")


def _everywhere(app: type[DOMNode]) -> tuple[BoundKeys, ...]:
    from widgets import RecordRows

    return (*_of(app, "everywhere"), *_of(RecordRows, _LIST))


def _pages() -> Iterator[tuple[BoundKeys, ...]]:
    from inspector.app.place_app import page_class

    return (tuple(_of(page_class(name), name)) for name in SCREENS)


def _of(node: type[DOMNode], where: str) -> Iterator[BoundKeys]:
    """The bindings of a class and its bases that have an id, with all keys of each."""
    commands = {command.id: command.title for command in COMMANDS}
    keys: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for part in node.__mro__:
        declared = part.__dict__.get("BINDINGS", ())
        for key, bindings in BindingsMap(declared).key_to_bindings.items():
            for binding in bindings:
                if binding.id:
                    keys.setdefault(binding.id, []).append(key)
                    titles.setdefault(binding.id, commands.get(binding.id, binding.description))
    return (BoundKeys(id_, ",".join(keys[id_]), titles[id_], where) for id_ in keys)


def checked(wanted: Mapping[str, Any], app: type[DOMNode]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return what can be used of a file of keys, and a sentence for everything that cannot."""
    from widgets import visible

    known = {bound.id: bound for bound in bound_keys(app)}
    keymap: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        shown = visible(name, limit=_LONGEST, newlines=False)
        if name not in known:
            near = ", ".join(closest(name, list(known), limit=2))
            problems.append(f"Unknown action '{shown}'" + (f"; closest: {near}." if near else "."))
        elif not isinstance(keys, str) or not keys.strip():
            problems.append(f'The keys for \'{shown}\' must be text, such as "f" or "ctrl+f,slash".')
        else:
            keymap[name] = ",".join(_key(key.strip()) for key in keys.split(",") if key.strip())
    return keymap, tuple(problems)


def _key(key: str) -> str:
    """Return a key by its name in Textual: `?` is question_mark."""
    return _character_to_key(key) if len(key) == 1 else key


# A catalog may have thousands of tools; the best of these many are looked at.
_MOST = 20
# What only its help mentions comes after what is called so.
_BY_HELP = 0.1
_LONGEST_NAME = 100


class Entry(Struct, frozen=True):
    """Something to go to or to do. `title` and `help` are safe to show."""

    title: str
    help: str
    run: IgnoreReturnCallbackType


class CommandSource(Provider):
    """Commands and pages at once; what a session holds is found by typing its name."""

    async def discover(self) -> Hits:
        for entry in self._commands():
            yield DiscoveryHit(Content(entry.title), entry.run, entry.title, escaped(entry.help))

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for entry in self._commands():
            says_so = query.strip().casefold() in entry.help.casefold()
            score = matcher.match(entry.title) or (_BY_HELP if says_so else 0.0)
            if score > 0:
                yield _hit(score, entry)
        held = ((matcher.match(entry.title), entry) for entry in self._held())
        best = sorted((pair for pair in held if pair[0] > 0), key=lambda pair: -pair[0])
        for score, entry in best[:_MOST]:
            yield _hit(score, entry)

    def _commands(self) -> Iterator[Entry]:
        for command in COMMANDS:
            title = f"{command.title}   {shown_keys(command)}".rstrip()
            yield Entry(title, command.help, partial(self.app.run_action, command.action))
        for place in PLACES:
            for page in place.pages if len(place.pages) > 1 else ():
                action = partial(self.app.run_action, f"page('{page.name}')")
                yield Entry(f"{place.title}: {page.title}", page.help, action)

    def _held(self) -> Iterator[Entry]:
        """What the session holds: servers, tools and settings."""
        from inspector.app.place import ServerPage, ToolPage
        from inspector.config.setting import knobs

        context = cast("Context", self.app)
        if not context.where.page:
            return
        session = context.session
        for server in session.state.servers.values():
            title = f"server {_safe(server.name)}"
            yield Entry(title, server.phase.value, partial(context.open, ServerPage(server.name)))
        for tool_id, tool in session.state.tools.items():
            yield Entry(
                f"tool {_safe(tool_id)}", tool.binding.value, partial(context.open, ToolPage(tool_id))
            )
        for knob in knobs():
            action = partial(self.app.run_action, f"settings('{knob.path}')")
            yield Entry(f"setting {knob.path}", knob.about, action)


def _hit(score: float, entry: Entry) -> Hit:
    return Hit(score, Content(entry.title), entry.run, entry.title, escaped(entry.help))


def escaped(text: str) -> str:
    """Return a text that Textual's palette, which reads it as markup, shows as it is."""
    return text.replace("[", "\\[")


def _safe(text: str) -> str:
    from widgets import visible

    return visible(text, limit=_LONGEST_NAME, newlines=False)
