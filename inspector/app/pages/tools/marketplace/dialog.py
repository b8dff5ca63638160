"""The questions before a server is installed or removed: its values, then exactly what happens."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from inspector.app.dialogs.consent_text import TEXT_AT, fact_line
from inspector.app.draw.style import MUTED
from inspector.domain.installation import Installation, Removal, ServerChange
from inspector.domain.plugin import Plugin, Variable
from inspector.engine.sink import clean
from widgets import NOTHING, Choice, Field, GuardedConfirm, SchemaForm, plain

_YES = "yes"
_SIGNS = {"+": "$text-success", "-": "$text-error"}


class ChangeDialog(GuardedConfirm):
    """Shows what would be started and what would be written. The focus is on no, and esc means no."""

    DEFAULT_CSS = "ChangeDialog > Vertical { width: 100; }"

    def __init__(self, title: str, body: Content, yes: str) -> None:
        choices = (Choice("", yes, _YES), Choice("", "no", "no"))
        super().__init__(title, body, choices, indent=TEXT_AT)

    @staticmethod
    def accepted(answer: str | None) -> bool:
        """Whether the dialog's answer is a yes."""
        return answer == _YES


class VariablesDialog(ModalScreen[dict[str, str] | None]):
    """Asks for the values that a plugin takes; None for a person who left."""

    DEFAULT_CSS = """
    VariablesDialog {
        align: center middle;
        & > Vertical {
            width: 84; max-width: 96%; height: auto; max-height: 90%;
            padding: 1 2; border: round $accent; background: $surface;
        }
        & SchemaForm { height: auto; max-height: 50vh; }
        & SchemaForm > Button { display: none; }
        & Static { height: auto; }
        & #variables-title { margin-bottom: 1; }
        & Horizontal { height: auto; margin-top: 1; }
        & Button { margin-right: 1; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", show=False),
        Binding("ctrl+r", "go_on", "continue", show=False),
    ]

    def __init__(self, plugin: Plugin) -> None:
        super().__init__()
        self._plugin = plugin

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_subtitle = "ctrl+r continues   esc cancels"
            name = plain(self._plugin.name, newlines=False, limit=100).stylize("bold")
            yield Static(Content.assemble("Values for ", name), id="variables-title")
            yield SchemaForm(tuple(map(_field, self._plugin.package.variables)))
            yield Static(
                Content.styled(
                    "Values are written to the configuration file; ${NAME} refers to a variable instead.",
                    MUTED,
                )
            )
            with Horizontal():
                yield Button("continue", variant="primary", compact=True, id="variables-on")
                yield Button("cancel", compact=True, id="variables-leave")

    @on(SchemaForm.Submitted)
    def _filled_in(self, event: SchemaForm.Submitted) -> None:
        event.stop()
        self.dismiss({name: str(value) for name, value in event.values.items()})

    @on(Button.Pressed, "#variables-on")
    def action_go_on(self) -> None:
        """Check the values and go on."""
        self.query_one(SchemaForm).action_submit()

    @on(Button.Pressed, "#variables-leave")
    def action_leave(self) -> None:
        """Install nothing."""
        self.dismiss(None)


def _field(variable: Variable) -> Field:
    default = variable.default or NOTHING
    return Field(
        variable.name,
        "string",
        variable.required and not variable.default,
        variable.description,
        default,
        hidden=variable.secret,
    )


def installation_body(wanted: Installation) -> Content:
    """Return what would be started, what it says that it reaches, and what becomes of the file."""
    name = plain(wanted.plugin.name, newlines=False, limit=200).stylize("bold $accent")
    head = Content.assemble(name, " would be installed as ", plain(wanted.server).stylize("bold"))
    marked = sum(fact.warns for fact in wanted.facts())
    warning = [Content.styled(f"Check the lines marked ! ({marked})", "$text-warning")] if marked else []
    facts = [*warning, *map(fact_line, wanted.facts())]
    return Content("\n").join([head, *facts, Content(), _change(wanted.becomes)])


def removal_body(wanted: Removal) -> Content:
    """Return what becomes of the file without the server."""
    head = Content.assemble(
        plain(wanted.server).stylize("bold"), " will be disconnected and its tools removed."
    )
    return Content("\n").join([head, Content(), _change(wanted.becomes)])


def _change(becomes: ServerChange) -> Content:
    if becomes.change is None:
        return Content.styled(becomes.note, "$text-warning")
    path = plain(becomes.change.path, newlines=False, limit=300)
    head = Content.assemble(path.stylize("bold"), " would change; a backup is kept next to it:")
    return Content("\n").join([head, *map(_diff_line, becomes.diff(clean))])


def _diff_line(line: str) -> Content:
    return plain(line, newlines=False, limit=500).stylize(_SIGNS.get(line[:1], MUTED))
