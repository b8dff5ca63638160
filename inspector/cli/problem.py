"""What is wrong with the settings and the servers, on stderr: what a command prints for programs stays."""

from collections.abc import Iterable

from inspector.cli.render import say
from inspector.domain.server import ServerPhase
from inspector.domain.session import ServerState
from inspector.domain.setting_problem import SettingProblem


def problem_line(problem: SettingProblem) -> str:
    """How bad it is, what is wrong and what to do, on one line."""
    return f"{problem.severity}: {problem.full}"


def say_problems(problems: Iterable[SettingProblem]) -> None:
    """Print the problems of the settings."""
    for problem in problems:
        say(problem_line(problem), err=True)


def say_failures(servers: Iterable[ServerState]) -> None:
    """Print which servers failed, and why: their tools are missing from what follows."""
    for server in servers:
        if server.phase is ServerPhase.FAILED:
            say(f"{server.name} failed: {server.reason}. `toolsight servers` says more.", err=True)
