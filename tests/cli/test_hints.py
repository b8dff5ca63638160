"""Commands that hints name run as printed: they have the servers and the database that were given."""

import ast
import json
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest
from hypothesis import given, strategies as st

import inspector
from inspector.cli.location import remember_source
from inspector.cli.options import TYPED_SERVER, Options
from inspector.cli.root import cli
from inspector.core.error import OF_SERVERS, command
from tests.support.commands import Toolsight

ROOT = Path(inspector.__file__).parent
QUOTED = re.compile(r"`(toolsight [^`]*)`")
# What stands where a hint has the name of something.
NAME = "shop:orders"
KNOWN = {"CLIENT": "codex", "NAME": "codex"}
# These say in general what a command is for, not what to run here.
GENERAL = {
    *(
        "cli/open_app.py",
        "features/check/page.py",
        "features/clients/facts.py",
        "features/tools/command.py",
    ),
    *("features/cost/command.py", "features/cost/audit/command.py", "features/cost/audit/facts.py"),
}
SOURCES = (
    Options(demo=True),
    Options(config=Path("some where/mcp.json"), database=Path("a b.db")),
    Options(server=("npx", "-y", "@scope/server", "--flag")),
    Options(server=("http://127.0.0.1:8000/mcp",), user="ann", policy="policy.yaml"),
)


def text_of(node: ast.expr) -> str:
    """The text that an expression makes, with NAME for what is not known before."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(value) for value in node.values)
    return NAME


def sources(having: str) -> Iterator[tuple[str, ast.Module]]:
    """The files in which this pattern is found: to parse all of them takes seconds."""
    for path in sorted(ROOT.rglob("*.py")):
        if re.search(having, text := path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), ast.parse(text)


def imports_command(tree: ast.Module) -> bool:
    found = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    names = (name.name for node in found if node.module == "inspector.core.error" for name in node.names)
    return "command" in names


def made() -> list[tuple[str, ...]]:
    """The words of every call of `command`."""
    return [
        tuple(map(text_of, node.args))
        for file, tree in sources(r"(?<![\w.])command\(")
        if file != "core/error.py" and imports_command(tree)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "command"
        if node.args and isinstance(node.args[0], ast.Constant)
    ]


def documentation(tree: ast.Module) -> set[ast.AST]:
    """The docstrings of a file that no command's help shows: these name commands without their arguments."""
    shown = (ast.ClassDef, ast.Module)
    nodes = (node for node in ast.walk(tree) if isinstance(node, (*shown, ast.FunctionDef)))
    return {
        node.body[0].value
        for node in nodes
        if isinstance(node.body[0], ast.Expr)
        if isinstance(node, shown) or not node.decorator_list
    }


@cache
def written_out() -> dict[str, set[str]]:
    """Every command in backquotes within a text, by what it says, with the files that have it."""
    found: dict[str, set[str]] = {}
    for file, tree in sources("`toolsight "):
        left_out = documentation(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant | ast.JoinedStr) and node not in left_out:
                for line in QUOTED.findall(text_of(node)):
                    found.setdefault(line, set()).add(file)
    return found


def context_of(line: str) -> click.Context:
    """The command of this line with what it was given. Raises UsageError if it cannot be run so."""
    program = click.Context(cli, info_name="toolsight", **cli.context_settings)
    # Of the program alone, `--help` would print.
    words = [KNOWN.get(word, word) for word in shlex.split(line)[1:]]
    words = [
        "codex" if before == "--client" else word for before, word in zip(["", *words], words, strict=False)
    ]
    cli.parse_args(program, words)
    found, rest = program, [*program._protected_args, *program.args]
    while rest and isinstance(found.command, click.Group):
        _, each, left = found.command.resolve_command(found, rest)
        assert each is not None
        found = each.make_context(each.name, list(left), parent=found)
        rest = [*found._protected_args, *found.args]
    return found


MADE = made()


@pytest.mark.parametrize("options", SOURCES, ids=["demo", "file", "command", "address"])
@pytest.mark.parametrize("words", MADE, ids=" ".join)
def test_a_hint_names_the_servers_and_the_database_that_were_given(
    words: tuple[str, ...], options: Options
) -> None:
    remember_source(options)
    context = context_of(command(*words).strip("`"))
    seen = context.params
    assert seen.get("database") == options.database
    if words[0] in OF_SERVERS:
        assert (seen["demo"], seen["config"], seen["user"]) == (options.demo, options.config, options.user)
        assert context.meta.get(TYPED_SERVER, ()) == options.server


def test_every_command_that_a_text_names_is_one() -> None:
    refused = {}
    for line, files in written_out().items():
        if line.endswith("--help"):
            continue
        try:
            context_of(line)
        except click.UsageError as error:
            refused[line] = (files, error.format_message())
    assert refused == {}


def test_a_hint_about_servers_is_made_by_the_function_that_knows_them() -> None:
    about = {
        line: others
        for line, files in written_out().items()
        if line.split()[1] in OF_SERVERS and (others := {file for file in files if file not in GENERAL})
    }
    assert about == {}


@given(st.lists(st.text("ab -'\"$`\\", min_size=1), min_size=1, max_size=4))
def test_a_hint_keeps_every_word_of_a_server_that_was_typed(words: list[str]) -> None:
    remember_source(Options(server=("server", *words)))
    assert shlex.split(command("servers")[1:-1]) == ["toolsight", "servers", "--", "server", *words]


@pytest.mark.slow
def test_the_command_that_is_printed_for_a_failed_server_shows_why_it_failed(toolsight: Toolsight) -> None:
    failed = toolsight("search", "orders", "--", sys.executable, "-c", "raise SystemExit(7)")
    assert failed.exit_code == 1
    (line,) = QUOTED.findall(failed.stderr)
    words = shlex.split(line)
    shown = toolsight("servers", "--json", *words[words.index("servers") + 1 :])
    assert shown.exit_code == 1
    assert "7" in json.loads(shown.stdout)[0]["reason"]
