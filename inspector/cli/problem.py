"""Problems of the settings on a terminal."""

from collections.abc import Iterable

from inspector.cli.render import say
from inspector.domain.setting_problem import SettingProblem


def problem_line(problem: SettingProblem) -> str:
    """How bad it is, what is wrong and what to do, on one line."""
    return f"{problem.severity}: {problem.full}"


def say_problems(problems: Iterable[SettingProblem]) -> None:
    """Print them on stderr, so that what the command prints for programs stays as it is."""
    for problem in problems:
        say(problem_line(problem), err=True)
