"""What `--help` says: the common options once, and of a command its own."""

from collections.abc import Callable, Iterator
from functools import cache

import click
import pytest

from docs.tables import said
from inspector.cli.options import COMMON as DECLARED, SAID, common_options
from inspector.cli.root import cli
from tests.support.commands import Toolsight


def commands() -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command with its words, also those of groups."""
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        yield (name,), command
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None
                yield (name, inner), found


@pytest.fixture(scope="module")
def helped(toolsight: Toolsight) -> Callable[..., str]:
    """The help of a command at 80 columns."""
    return cache(lambda *words: toolsight(*words, "--help", COLUMNS="80").stdout)


def test_the_list_of_commands_says_of_each_what_it_says_itself() -> None:
    assert SAID.read_text(encoding="utf-8") == said()


COMMON = [option.opts[0] for option in common_options(cli)]
EVERY = [words for words, _ in commands()]


def sections(text: str) -> dict[str, list[str]]:
    """The first words of the lines of each section."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line and not line.startswith(" ") and line.endswith(":"):
            title = line.removesuffix(":")
        elif line.startswith("  ") and not line.startswith("   ") and title:
            found.setdefault(title, []).append(line.split()[0].strip(","))
    return found


def test_the_program_explains_each_common_option_once(helped: Callable[..., str]) -> None:
    found = sections(helped())
    title = next(title for title in found if title.startswith("Common options"))
    assert found[title] == COMMON
    assert found["Options"] == ["--version", "--watch", "--web", "-h"]
    assert len(COMMON) == 18


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_command_explains_only_its_own_options_and_names_the_common_ones(
    helped: Callable[..., str], words: tuple[str, ...]
) -> None:
    own, also, told = helped(*words).partition("\n  Also takes ")
    taken = dict(commands())[words]
    names = [option.opts[0] for option in common_options(taken)]
    assert not set(sections(own)["Options"]) & set(names)
    assert bool(also) is bool(names)
    missing = set(COMMON) - set(names)
    named = {option for option in COMMON if option in told.split("see")[0]}
    assert named in (set(), set(names), missing)
    assert bool(named) is bool(names and missing)


def test_a_common_option_is_declared_once_and_a_command_declares_only_its_own() -> None:
    for words, command in commands():
        taken = common_options(command)
        assert set(taken) <= set(DECLARED), words
        assert not set(taken) & set(command.params), words
        assert not {option.name for option in taken} & {own.name for own in command.params}, words


def test_a_common_option_is_taken_before_and_after_the_name_of_a_command(toolsight: Toolsight) -> None:
    after = toolsight("config", "settings", "--set", "binding.capacity=3", "--json")
    before = toolsight("--set", "binding.capacity=3", "config", "settings", "--json")
    assert after.exit_code == before.exit_code == 0
    assert after.stdout == before.stdout


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_a_summary_is_whole_at_80_columns_and_the_help_has_an_example(
    helped: Callable[..., str], words: tuple[str, ...]
) -> None:
    summary = " ".join((dict(commands())[words].help or "").split("\n\n")[0].split())
    line = next(line for line in helped(*words[:-1]).splitlines() if line.split()[:1] == [words[-1]])
    assert line.rstrip().endswith(summary)
    assert f"  toolsight {' '.join(words)}" in helped(*words)
