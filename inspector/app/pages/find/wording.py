"""How Search words its parts: a score, a ranker, an outcome."""

from textual.content import Content

from inspector.core.ranking import Hit, Outcome
from inspector.search.rankers.ranker_list import INFO
from widgets import visible

# Outcomes as people say them; the terms of art are those of the events and of --json.
_WORDS = {
    Outcome.BELOW_FLOOR: "no match",
    Outcome.UNLIKELY: "unlikely",
    Outcome.PRECONDITION: "not yet",
}


def stands_for(ranker: str) -> str:
    """Return whose search a ranker is, or of what kind."""
    info = INFO.get(ranker)
    return info.stands_for if info is not None else visible(ranker, newlines=False, limit=40)


def score(value: float) -> str:
    """Return a score as every pane writes it."""
    return f"{value:.3f}"


def outcome(hit: Hit, bound: bool, *, implied: Outcome | None = None) -> Content:
    """Return the tool's outcome, unless it is the one that goes without saying, and whether it is loaded."""
    if hit.outcome.is_result and bound:
        before = hit.outcome is Outcome.ALREADY_LOADED
        return Content.styled("● bound before" if before else "● loaded", "$text-success")
    word = "" if hit.outcome is implied else _WORDS.get(hit.outcome, hit.outcome.value)
    return Content(" ".join(filter(None, ("●" if bound else "", word))))
