"""How a chat presents plugins that a search found in the marketplace, and how to install one."""

import re
import shlex
from collections.abc import Callable, Iterator

from inspector.cli.options import Options
from inspector.core.marketplace import MarketplaceReport, Suggestion, terms_text
from inspector.core.number import percent
from widgets import visible

Advice = Callable[[str], tuple[str, ...]]
"""How to install the plugin of a name, a line each."""

_TITLE = "in the marketplace, not installed:"
_TEXT, _TERMS = 120, 60
# A name that no shell and no option parser reads as anything else.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/@-]{0,99}")
_ANY = "NAME"
_NOT_YOURS = "only the administrator can install plugins"
_DEMO = "install it on the Marketplace page of `toolsight demo`; it lasts for that session only"


def suggestion_lines(found: MarketplaceReport, advice: Advice) -> Iterator[str]:
    """A title, a line for each plugin, and how to install one; nothing without any."""
    if not found.suggestions:
        return
    yield f"  ◇ {_TITLE}"
    for one in found.suggestions:
        yield f"    {_line(one)}"
    names = {one.plugin for one in found.suggestions}
    for line in advice(names.pop() if len(names) == 1 else _ANY):
        yield f"    {line}"


def how_to_install(chosen: Options, plugin: str, *, whole: bool = True) -> tuple[str, ...]:
    """What a person does to install a plugin, in the words of the shell where that lasts.

    Nothing but `NAME` stands for a plugin whose name a shell could read as something else. Somebody who does
    not see the `whole` configuration cannot install anything.
    """
    if not whole:
        return (_NOT_YOURS,)
    if chosen.demo:
        return (f"details: {_command('show', plugin, chosen)}", _DEMO)
    return (f"install it: {_command('install', plugin, chosen)}",)


def _command(does: str, plugin: str, chosen: Options) -> str:
    name = plugin if _PLAIN.fullmatch(plugin) else _ANY
    return " ".join(("toolsight marketplace", does, name, *_where(chosen)))


def _where(chosen: Options) -> Iterator[str]:
    """The options with which the marketplace has the chat's configuration, catalogs and database."""
    if chosen.demo:
        yield "--demo"
    elif chosen.config is not None:
        yield f"--config {shlex.quote(str(chosen.config))}"
    elif chosen.server or chosen.registry:
        yield "--config FILE"
    for catalog in chosen.values.get("marketplace.catalogs", ()):
        yield f"--catalog {shlex.quote(catalog)}"
    if chosen.database is not None:
        yield f"--db {shlex.quote(str(chosen.database))}"


def _line(one: Suggestion) -> str:
    terms = _short(terms_text(one.price, one.rating, one.publisher), _TERMS)
    about = f" ({terms})" if terms else ""
    name, fits = _short(one.plugin, _TERMS), percent(one.similarity)
    return f"{name}{about}  fits {fits}  {_short(one.description, _TEXT)}"


def _short(text: str, limit: int) -> str:
    return visible(text, limit=limit, newlines=False)
