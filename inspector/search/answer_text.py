"""What a search says, in words for people: found, closest or nothing, and with what confidence."""

from inspector.core.number import percent
from inspector.core.ranking import Answer, SearchReport

_MEANING = {Answer.CLOSEST: "no tool clearly fits", Answer.NOTHING: "no tool fits"}


def answer_text(report: SearchReport) -> str:
    """One line: “closest: no tool clearly fits (confidence 12 %, needs 35 %)”."""
    said = ": ".join(filter(None, (report.answer.value, _MEANING.get(report.answer, ""))))
    confidence = confidence_text(report)
    return f"{said} ({confidence})" if confidence else said


def answered(report: SearchReport) -> str:
    """The same in a word or two: “3 closest”."""
    number = len(report.results)
    return f"{number} {report.answer}" if number else report.answer.value


def confidence_text(report: SearchReport) -> str:
    """“confidence 12 %, needs 35 %”; "" of a search that estimates none."""
    return confidence_beside(report.probability, report.threshold)


def confidence_beside(value: float | None, threshold: float) -> str:
    """A confidence, and what `found` needs if it is less."""
    if value is None:
        return ""
    own, needed = told_apart(value, threshold)
    return f"confidence {own}, needs {needed}" if value < threshold else f"confidence {own}"


def told_apart(value: float, threshold: float) -> tuple[str, str]:
    """A confidence and what it needs in percent, with enough digits to distinguish them."""
    texts = ((percent(value, digits), percent(threshold, digits)) for digits in (0, 1, 2))
    return next((pair for pair in texts if pair[0] != pair[1]), (percent(value), percent(threshold)))
