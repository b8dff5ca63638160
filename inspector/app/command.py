"""The one registry of commands: key bindings, palette entries, the help screen and the README's table."""

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True, slots=True)
class Command:
    """Something a person can do anywhere in the app. `action` is a Textual action of the app."""

    id: str
    keys: str
    title: str
    action: str
    help: str
    in_footer: bool = False

    def binding(self) -> Binding:
        # A terminal sends alt and a letter as that letter: what has the focus would write it down.
        priority = self.keys.startswith("alt+")
        return Binding(self.keys, self.action, self.title, id=self.id, show=self.in_footer, priority=priority)


COMMANDS: tuple[Command, ...] = (
    Command("help", "f1,question_mark", "help", "help", "This page in a few lines, and every key.", True),
    Command("page.servers", "f2", "servers", "page('servers')", "Connections, stderr, reconnect.", True),
    Command("page.manifest", "f3", "manifest", "page('manifest')", "Exactly what the model is sent.", True),
    Command("page.search", "f4", "search", "page('search')", "Search, and read every score.", True),
    Command("page.budget", "f5", "budget", "page('budget')", "Tokens by server and tool.", True),
    Command("page.events", "f6", "events", "page('events')", "Everything that happened.", True),
    Command("toolset", "ctrl+t", "toolset", "ask('toolset')", "Restrict which tools there are."),
    Command("model", "ctrl+o", "model", "ask('model')", "Answer with another model."),
    Command("milestone", "alt+m", "milestone", "ask('milestone')", "Tell that a step of the work is done."),
    Command("theme", "ctrl+l", "light/dark", "toggle_theme", "Switch between the dark and light theme."),
    Command("page.session", "f7", "session", "page('session')", "Back to the conversation, from anywhere."),
    Command("page.bench", "f8", "bench", "page('bench')", "Measure rankers, and find the threshold."),
    Command("index.stop", "f9", "stop embedding", "stop_embedding", "Go on with what is embedded by now."),
    Command("page.timeline", "f10,ctrl+r", "timeline", "page('timeline')", "Every turn; replay any moment."),
    Command("page.profile", "ctrl+g", "profile", "page('profile')", "Choose a design, and turn every knob."),
    Command("page.lab", "f12,ctrl+n", "guard lab", "page('lab')", "Play scenarios; watch the guards count."),
    Command("page.race", "f11,ctrl+b", "race", "page('race')", "Race static binding against discovery."),
    Command("page.reproduce", "alt+r", "reproduce", "page('reproduce')", "Published numbers, measured anew."),
    Command("quit", "ctrl+q", "quit", "quit", "Close the servers and leave."),
)


def bindings() -> list[Binding]:
    """The app's key bindings."""
    return [command.binding() for command in COMMANDS]


def shown_keys(command: Command) -> str:
    """The keys of a command as people read them."""
    return command.keys.replace("question_mark", "?").replace(",", " or ")
