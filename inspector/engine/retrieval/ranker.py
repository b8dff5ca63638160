"""What every ranker offers."""

from typing import Protocol

from inspector.domain.ranking import Score


class Ranker(Protocol):
    """Scores the tools it was built over. Limits, filters and loading are decided elsewhere."""

    @property
    def name(self) -> str: ...

    def terms(self, query: str) -> tuple[str, ...]:
        """The words of the query that the ranker looks for."""

    def rank(self, query: str) -> tuple[Score, ...]:
        """A score for every tool in catalog order, zero where nothing matches; parts add up to it."""
