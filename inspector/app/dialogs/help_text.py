"""The text of the help screen."""

from textual.content import Content

from inspector.app.command import COMMANDS, shown_keys

_IN_LISTS = (
    ("/", "filter"),
    ("enter", "open"),
    ("y", "copy the row"),
    ("esc", "one level back"),
)
_KEY_WIDTH = 14


def help_text(lines: tuple[str, ...]) -> Content:
    """Return the page's own lines, then the commands, then the keys of every list."""
    page = [Content(line) for line in lines] or [Content("There is no help for this page.")]
    commands = [_row(shown_keys(command), f"{command.title}: {command.help}") for command in COMMANDS]
    lists = [_row(key, what) for key, what in _IN_LISTS]
    blocks = [
        *page,
        Content(""),
        Content.styled("Everywhere", "bold"),
        *commands,
        _row("ctrl+p", "commands: find any command by name"),
        Content(""),
        Content.styled("In every list", "bold"),
        *lists,
    ]
    return Content("\n").join(blocks)


def _row(keys: str, what: str) -> Content:
    return Content.assemble((f"{keys:<{_KEY_WIDTH}}", "bold $accent"), what)
