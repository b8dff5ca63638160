"""The tables of the docs that the program knows better: commands, keys, rules. `make docs` writes them anew.

A page has a table between `<!-- table: NAME -->` and `<!-- end -->`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from docs.papers import clients
from inspector.app.app import ToolsightApp
from inspector.app.command import bound_keys
from inspector.cli.options import SAID
from inspector.cli.root import cli
from inspector.features.check.checking import RULES
from inspector.features.feature_list import FEATURES

DOCS = Path(__file__).resolve().parent
PAGES = (DOCS / "configuration.md", DOCS / "sessions.md", DOCS / "check.md")
_PLACED = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_NAMES = {"question_mark": "?", "slash": "/", "equals_sign": "=", "plus": "+", "minus": "-"}
_SAID = "# The first sentence of each command's help. `make docs` writes it.\n"
# What a key is called differs from page to page.
_TITLES = {"page.view": "other view", "place.chat.f1": "chat"}
_FOR_PEOPLE = ("everywhere", "in every list", "every page")


def written(page: str) -> str:
    """Return a page's text with its tables as the program has them now."""
    return _PLACED.sub(lambda found: f"{found[1]}{_table(found[2])}{found[3]}", page)


def _table(name: str) -> str:
    kind, _, group = name.partition(":")
    tables = {
        "keys": ("| key | does | where |\n|---|---|---|\n", _keys),
        "rules": ("| rule | severity | about | what is found |\n|---|---|---|---|\n", _rules),
        "commands": ("| command | |\n|---|---|\n", lambda: _commands(group)),
    }
    head, rows = tables[kind]
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows())


def said() -> str:
    """Return the first sentence of each command's help, for lists that import none of them."""
    commands = ((feature, command) for feature in FEATURES for command in feature.commands)
    rows = ((one.words, feature.made(one.at).get_short_help_str(limit=200)) for feature, one in commands)
    return _SAID + "".join(f'"{words}" = {json.dumps(text, ensure_ascii=False)}\n' for words, text in rows)


def _rules() -> Iterator[tuple[str, ...]]:
    for rule in RULES:
        yield f"`{rule.name}`", rule.severity, rule.stage, rule.title


def _commands(group: str) -> Iterator[tuple[str, str]]:
    parent = cli if not group else cli.get_command(click.Context(cli), group)
    assert isinstance(parent, click.Group)
    context = click.Context(parent)
    for name in parent.list_commands(context):
        command = parent.get_command(context, name)
        assert command is not None
        yield f"`{f'{group} {name}'.strip()}`", command.get_short_help_str(limit=200)


def _keys() -> Iterator[tuple[str, str, str]]:
    """The keys that work in more than one place; `toolsight config keys` has the others."""
    keys: dict[tuple[str, str], list[str]] = {}
    pages: Counter[tuple[str, str]] = Counter()
    for bound in bound_keys(ToolsightApp):
        title = _TITLES.get(bound.id, bound.title.lower())
        shared = bound.where if bound.where in _FOR_PEOPLE else ""
        number = int(bound.where.split()[0]) if bound.where.endswith(" pages") else 1
        pages[title, shared] += number
        keys.setdefault((title, shared), []).extend(bound.keys.split(","))
    for (title, shared), names in keys.items():
        number = pages[title, shared]
        if title and (shared or number > 2):
            shown = " ".join(f"`{_NAMES.get(name, name)}`" for name in dict.fromkeys(names))
            yield shown, title, shared or f"{number} pages"


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(written(path.read_text(encoding="utf-8")), encoding="utf-8")
    clients.PAGE.write_text(clients.written(), encoding="utf-8")
    SAID.write_text(said(), encoding="utf-8")
