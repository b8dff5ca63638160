"""The text of the help screen."""

from textual.content import Content

from inspector.app.command import COMMANDS, shown_keys

_IN_LISTS = (
    ("j k g G", "down, up, first, last; the arrows, home and end do the same"),
    ("/", "filter"),
    ("enter", "open"),
    ("w", "why a search finds the tool, or not"),
    ("e", "edit the tool, and see what that changes"),
    ("l", "load the tool for the model, or unload it"),
    ("y", "copy the row"),
    ("x", "export"),
    ("r", "do it again: measure, run, race, connect"),
    ("esc q", "one level back; in an input, to the list beside it"),
)
_KEY_WIDTH = 10


def help_text(lines: tuple[str, ...]) -> Content:
    """Return the page's own lines, then the commands, then the keys of every list."""
    page = [Content(line) for line in lines] or [Content("There is no help for this page.")]
    commands = [
        _row(shown_keys(command) or "ctrl+p", f"{command.title}: {command.help}") for command in COMMANDS
    ]
    lists = [_row(key, what) for key, what in _IN_LISTS]
    blocks = [
        *page,
        Content(""),
        Content.styled("Everywhere", "bold"),
        *commands,
        _row("ctrl+p", "find any page, command, tool, server, session or setting by its name"),
        Content(""),
        Content.styled("In every list", "bold"),
        *lists,
    ]
    return Content("\n").join(blocks)


def _row(keys: str, what: str) -> Content:
    return Content.assemble((f"{keys:<{_KEY_WIDTH}}", "bold $accent"), what)
