"""The registry of commands, the source of key bindings, palette entries and the help screen."""

from collections.abc import Iterator
from dataclasses import dataclass

from textual.binding import Binding

from inspector.app.place import PLACES, digit, listed


@dataclass(frozen=True, slots=True)
class Command:
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
    Command("jump", "ctrl+g", "jump", "jump", "Jump to any pane with one letter."),
    Command("keys", "", "keys panel", "keys_panel", "Show or hide a panel of the keys that work here."),
    Command("theme", "ctrl+l", "light/dark", "toggle_theme", "Switch between the dark and light themes."),
    Command("model", "", "model", "ask('model')", "Switch to another model."),
    Command("toolset", "", "toolset", "ask('toolset')", "Restrict the catalog to a toolset."),
    Command("see_as", "", "view as", "ask('see_as')", "Start a session as one of the policy's users."),
    Command("milestone", "", "milestone", "ask('milestone')", "Mark a milestone as reached."),
    Command("index.stop", "", "stop embedding", "stop_embedding", "Stop embedding and search what is ready."),
    Command("stop", "", "stop measuring", "stop_measuring", "Stop measurements running in the background."),
    Command("help", "question_mark", "help", "help", "Explain this page and list every key.", True),
    Command("quit", "ctrl+q", "quit", "quit", "Stop the servers and quit.", True),
)


def bindings() -> list[Binding]:
    """The app's key bindings."""
    return [binding for command in COMMANDS for binding in command.bindings()]


def shown_keys(command: Command) -> str:
    """The keys of a command as shown to people."""
    return command.keys.replace("question_mark", "?").replace(",", " or ")
