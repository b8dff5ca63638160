"""What an earlier run left, on the command line."""

import json
import sys
from collections.abc import Callable

import click
import pytest

from inspector.cli.launch import _LATER, ask_about_leftovers
from inspector.cli.options import Options
from inspector.core.leftover import Leftover
from tests.support.commands import Toolsight
from tests.support.fakes import MemoryLeftovers

GIT = Leftover("ab.1", "git", "python -m mcp_git", 1_772_438_400.0, (811, 812))
DAEMON = Leftover("ab.2", "browser\x1b[2J", "chrome", 1_772_438_460.0, (900,), detached=True)


@pytest.fixture
def left(monkeypatch: pytest.MonkeyPatch) -> Callable[..., MemoryLeftovers]:
    def use(*each: Leftover, stubborn: tuple[str, ...] = ()) -> MemoryLeftovers:
        made = MemoryLeftovers(*each, stubborn=stubborn)
        for module in ("inspector.features.setup.doctor_command", "inspector.cli.launch"):
            monkeypatch.setattr(f"{module}.open_leftovers", lambda _options: made)
        return made

    return use


def test_they_are_listed_with_what_is_needed_to_decide(
    toolsight: Toolsight, left: Callable[..., MemoryLeftovers]
) -> None:
    left(GIT, DAEMON)
    done = toolsight("doctor", "orphans")
    assert done.exit_code == 0
    for part in ("git", "python -m mcp_git", "2026-03-02 08:00 UTC", "811, 812", "detached from its server"):
        assert part in done.stdout
    assert "\x1b" not in done.stdout


def test_they_are_ended_on_request_only(toolsight: Toolsight, left: Callable[..., MemoryLeftovers]) -> None:
    store = left(GIT, DAEMON)
    assert toolsight("doctor", "orphans").exit_code == 0
    assert store.find() == (GIT, DAEMON)
    assert "2 servers" in toolsight("doctor", "orphans", "--end").stdout
    assert store.find() == ()


def test_what_could_not_be_ended_is_an_error(
    toolsight: Toolsight, left: Callable[..., MemoryLeftovers]
) -> None:
    left(GIT, stubborn=(GIT.id,))
    done = toolsight("doctor", "orphans", "--end")
    assert done.exit_code == 1
    assert "811, 812" in done.stdout


def test_what_is_kept_is_told_no_more(toolsight: Toolsight, left: Callable[..., MemoryLeftovers]) -> None:
    left(DAEMON)
    toolsight("doctor", "orphans", "--keep")
    assert json.loads(toolsight("doctor", "orphans", "--json").stdout) == []


def test_without_a_terminal_a_line_tells_and_nothing_is_ended(
    capsys: pytest.CaptureFixture[str], left: Callable[..., MemoryLeftovers]
) -> None:
    store = left(GIT)
    ask_about_leftovers(Options())
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "git" in err
    assert store.find() == (GIT,)


@pytest.mark.parametrize("answer", ["end", "keep", ""])
def test_on_a_terminal_a_person_is_asked_and_no_is_the_default(
    monkeypatch: pytest.MonkeyPatch, left: Callable[..., MemoryLeftovers], answer: str
) -> None:
    store = left(GIT)

    def prompt(_text: str, *, default: str, **_options: object) -> str:
        return answer or default

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(click, "prompt", prompt)
    ask_about_leftovers(Options())
    assert store.find() == (() if answer else (GIT,))


def test_a_command_that_starts_servers_tells_of_them_first(
    toolsight: Toolsight, left: Callable[..., MemoryLeftovers]
) -> None:
    left(GIT)
    done = toolsight("servers", "--demo")
    assert done.exit_code == 0
    assert "left running by an earlier session: git" in done.stderr
    assert _LATER in done.stderr
