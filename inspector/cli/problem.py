"""What is wrong with the settings and the servers, on stderr: what a command prints for programs stays."""

from collections.abc import Iterable

from inspector.cli.table import say
from inspector.core.error import ConfigError
from inspector.core.server import ServerPhase
from inspector.core.session import ServerState
from inspector.core.setting_problem import SettingProblem, Severity


def problem_line(problem: SettingProblem) -> str:
    """How bad it is, what is wrong and what to do, on one line."""
    return f"{problem.severity}: {problem.full}"


def say_problems(problems: Iterable[SettingProblem]) -> None:
    """Print the problems of the settings."""
    for problem in problems:
        say(problem_line(problem), err=True)


def is_of_policy(problem: SettingProblem) -> bool:
    """Whether a pattern of the policy matches no tool."""
    return problem.path == "access.policy" and problem.severity is Severity.ERROR


def require_policy(problems: Iterable[SettingProblem]) -> None:
    """Raise ConfigError if a pattern of the policy matches no tool: it is not what its author meant."""
    wrong = list(filter(is_of_policy, problems))
    if wrong:
        told = "; ".join(f"{one.entry} {one.text}" for one in wrong)
        raise ConfigError(f"--policy: {told}", hint=" ".join(dict.fromkeys(one.hint for one in wrong)))


def say_failures(servers: Iterable[ServerState]) -> None:
    """Print which servers failed, and why: their tools are missing from what follows."""
    for server in servers:
        if server.phase is ServerPhase.FAILED:
            say(f"{server.name} failed: {server.reason}. Run `toolsight servers` for details.", err=True)
