"""The registry of commands, the source of key bindings, palette entries and the help screen."""

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Command:
    """A command that works anywhere in the app. `action` is a Textual action of the app."""

    id: str
    keys: str
    title: str
    action: str
    help: str
    in_footer: bool = False

    def binding(self) -> Binding:
        # A terminal sends alt and a letter as that letter, so the focused input would type it.
        priority = self.keys.startswith("alt+")
        return Binding(self.keys, self.action, self.title, id=self.id, show=self.in_footer, priority=priority)


COMMANDS: tuple[Command, ...] = (
    Command("help", "f1,question_mark", "help", "help", "What this page shows, and every key.", True),
    Command("page.servers", "f2", "servers", "page('servers')", "Connections and stderr; reconnect.", True),
    Command("page.manifest", "f3", "manifest", "page('manifest')", "What the model is sent, exactly.", True),
    Command("page.search", "f4", "search", "page('search')", "Search, and explain every score.", True),
    Command("page.budget", "f5", "budget", "page('budget')", "What tools cost, and what-if.", True),
    Command("page.events", "f6", "events", "page('events')", "Every event of the session.", True),
    Command("toolset", "ctrl+t", "toolset", "ask('toolset')", "Restrict the catalog to a toolset."),
    Command("model", "ctrl+o", "model", "ask('model')", "Switch to another model."),
    Command("milestone", "alt+m", "milestone", "ask('milestone')", "Mark a milestone as reached."),
    Command("theme", "ctrl+l", "light/dark", "toggle_theme", "Switch between dark and light theme."),
    Command("page.session", "f7", "session", "page('session')", "Go back to the conversation."),
    Command("page.bench", "f8", "bench", "page('bench')", "Measure rankers; fit the threshold."),
    Command("index.stop", "f9", "stop embedding", "stop_embedding", "Search with what is ready by now."),
    Command(
        "page.timeline", "f10,ctrl+r", "timeline", "page('timeline')", "Every model call; replay any of them."
    ),
    Command("page.profile", "ctrl+g", "profile", "page('profile')", "Choose a profile; change settings."),
    Command("page.lab", "f12,ctrl+n", "guard lab", "page('lab')", "Run scenarios; see what guards count."),
    Command("page.race", "f11,ctrl+b", "race", "page('race')", "Race static binding against discovery."),
    Command("page.reproduce", "alt+r", "reproduce", "page('reproduce')", "Measure published results again."),
    Command("quit", "ctrl+q", "quit", "quit", "Stop the servers and quit."),
)


def bindings() -> list[Binding]:
    """The app's key bindings."""
    return [command.binding() for command in COMMANDS]


def shown_keys(command: Command) -> str:
    """The keys of a command as shown to people."""
    return command.keys.replace("question_mark", "?").replace(",", " or ")
