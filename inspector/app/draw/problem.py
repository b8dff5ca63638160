"""Problems of the settings as lines, worst first."""

from collections.abc import Sequence

from textual.content import Content

from inspector.core.number import count
from inspector.core.setting_problem import SettingProblem, Severity
from widgets import plain

_MARKS = {
    Severity.ERROR: ("✕ ", "$text-error"),
    Severity.PENDING: ("… ", "$text-warning"),
    Severity.WARNING: ("⚠ ", "$text-warning"),
    Severity.UNCHECKED: ("… ", "$text-muted"),
}
_LONGEST = 400


def sign(problem: SettingProblem) -> Content:
    """Return the sign of a problem's severity, in its color."""
    text, color = _MARKS[problem.severity]
    return Content.styled(text.strip(), color)


def problem_line(problem: SettingProblem) -> Content:
    """Return what is wrong and what to do; only an error or a warning is in color."""
    shape, color = _MARKS[problem.severity]
    sentence = plain(f"{problem.sentence}.", newlines=False, limit=_LONGEST).stylize(color)
    hint = plain(problem.hint, newlines=False, limit=_LONGEST)
    return Content.assemble((shape, color), sentence, " " if problem.hint else "", hint)


def problem_lines(problems: Sequence[SettingProblem], most: int) -> list[Content]:
    """Return a line per problem, at most so many, and how many more there are."""
    lines = [problem_line(problem) for problem in problems[:most]]
    if len(problems) > most:
        lines.append(Content(f"… {count(len(problems) - most, 'more problem')} in the settings"))
    return lines


def problem_count(problems: Sequence[SettingProblem], *, is_short: bool = False) -> Content:
    """Return how many problems there are, with the sign of the worst; empty if there is none to act on."""
    pressing = [problem for problem in problems if problem.severity is not Severity.UNCHECKED]
    if not pressing:
        return Content("")
    sign, color = _MARKS[pressing[0].severity]
    what = "problem" if is_short else "setting problem"
    return Content.styled(f"{sign}{count(len(pressing), what)}", color)
