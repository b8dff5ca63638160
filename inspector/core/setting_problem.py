"""Problems of a session's settings: what a check finds, and what it is given to find them.

A check is a pure function. `loop.settings_check` runs all of them whenever the servers, their tools, the
toolset or the settings change, and puts what they find into the stream.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a problem is, worst first."""

    ERROR = "error"
    """A restriction restricts nothing: no turn runs until it is put right."""
    PENDING = "pending"
    """This may turn out to be an error once the servers that are connecting are ready."""
    WARNING = "warning"
    """A setting has no effect."""
    UNCHECKED = "unchecked"
    """It cannot be checked, as a server is away."""


@dataclass(frozen=True, slots=True)
class SettingProblem:
    """Something wrong with a setting.

    `path` is the setting's path, or where it is in the file; `entry` is the part of its value that is wrong,
    "" for all of it. `text` continues them to a sentence. `server` is the one it is about, if it is about
    one.
    """

    path: str
    entry: str
    text: str
    hint: str = ""
    severity: Severity = Severity.WARNING
    server: str = ""

    @property
    def sentence(self) -> str:
        """What is wrong, on one line."""
        return " ".join(filter(None, (self.path, f"“{self.entry}”" if self.entry else "", self.text)))

    @property
    def full(self) -> str:
        """What is wrong and what to do."""
        return f"{self.sentence}. {self.hint}" if self.hint else f"{self.sentence}."


def worst_first(problems: Iterable[SettingProblem]) -> tuple[SettingProblem, ...]:
    """The problems by severity, otherwise in their order, each once."""
    order = {severity: rank for rank, severity in enumerate(Severity)}
    return tuple(sorted(dict.fromkeys(problems), key=lambda problem: order[problem.severity]))


def refusal(problems: Sequence[SettingProblem]) -> str:
    """Why no turn may run, for people; "" if it may."""
    errors = [problem.full for problem in problems if problem.severity is Severity.ERROR]
    if not errors:
        return ""
    return "\n".join(("Nothing is called until you fix this in the settings:", *errors))
