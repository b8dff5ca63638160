"""What a marketplace offers, what a search there suggests, and what a model reads of it."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from inspector.core.number import count, milliseconds, money, percent
from inspector.core.ranking import UNSERVED, Score, SearchReport
from inspector.core.report import NAME, NUMBER, SHARE, Block, Column, Table
from inspector.core.text import first_sentence, one_line, shortened

# Semantic tool discovery, section 10.1. Nobody checks what a publisher says: all texts here are hostile.


def price_text(price: float | None) -> str:
    """The price for people: free, an amount a month, or "" if nobody says."""
    if price is None:
        return ""
    return "free" if price == 0 else f"{money(price, 2)}/month"


def rating_text(rating: float | None) -> str:
    """The rating out of five, or "" if nobody says."""
    return "" if rating is None else f"{rating:.1f}"


_BRIEF = 120
_NAMED = 6
_NOT_CALLABLE = (
    "Not installed: you can neither call nor install these, and searching again does not load them. Only the "
    "user can install one; say so if one would help. What follows is what their publishers say:"
)


class Suggestion(Struct, frozen=True):
    """A plugin that may serve a query, with what decides about it. Texts are the publisher's.

    `similarity` is how well its best text fits, 0 to 1; `matched` is the tool whose text that is, "" for the
    plugin's own description, and `score` that text's score with its parts.
    """

    plugin: str
    description: str
    category: str
    price: float | None
    rating: float | None
    publisher: str
    origin: str
    version: str
    tools: tuple[str, ...]
    similarity: float
    matched: str
    score: Score


class MarketplaceReport(Struct, frozen=True):
    """A search of the marketplace, best first. `considered` counts the plugins that were compared.

    `installed` counts those left out because they are configured already. `why` says why the search went on
    there. `probability` is how likely it is that any plugin fits, None if the ranker does not estimate it.
    """

    query: str
    suggestions: tuple[Suggestion, ...] = ()
    considered: int = 0
    installed: int = 0
    why: str = ""
    milliseconds: float = 0.0
    probability: float | None = None

    @property
    def text(self) -> str:
        """What a model reads: "" without suggestions, so that nothing is spent on nothing."""
        if not self.suggestions:
            return ""
        return "\n".join((_NOT_CALLABLE, *map(_line, self.suggestions)))


def why_further(report: SearchReport) -> str:
    """Why a search goes on in the marketplace (section 10); "" if it does not.

    Only a query does: what is asked for by name, or all that a server has, is no need that nobody serves.
    """
    if report.error or not report.request.query.strip():
        return ""
    return UNSERVED.get(report.answer, "")


def brief(description: str) -> str:
    """The first sentence of a description on one line, shortened."""
    return shortened(first_sentence(description) or one_line(description), _BRIEF)


def terms_text(price: float | None, rating: float | None, publisher: str) -> str:
    """Who publishes a plugin, what it costs and how it is rated, as far as anybody says."""
    rated = f"rated {rating_text(rating)} of 5" if rating is not None else ""
    return ", ".join(filter(None, (one_line(publisher), price_text(price), rated)))


NO_CATALOG = (
    "No catalogs yet. Add one to marketplace.catalogs, or import one with "
    "`toolsight marketplace import FILE`, or try the demo's with --demo."
)
_UNKNOWN = "?"
_PRICE = Column("price", lambda one: price_text(one.price) or _UNKNOWN)
_RATING = Column("rating", lambda one: rating_text(one.rating) or _UNKNOWN, NUMBER)


def terms_columns(rows: Sequence[Any]) -> Iterator[Column]:
    """The columns of prices and ratings, without those that none of the rows has."""
    return (column for column in (_PRICE, _RATING) if any(column.text(row) != _UNKNOWN for row in rows))


def suggestion_lines(found: MarketplaceReport) -> Iterator[Block]:
    """The suggestions, best first, and how many plugins they are of."""
    if not found.considered:
        yield NO_CATALOG if not found.installed else "Every plugin in the marketplace is already installed."
        return
    columns = (
        Column("plugin", kind=NAME),
        Column("fits", "similarity", SHARE),
        Column("matched", lambda one: one.matched or "itself"),
        Column("category"),
        *terms_columns(found.suggestions),
        Column("what", "description"),
    )
    yield Table.of(columns, found.suggestions) if found.suggestions else "No plugin matches."
    left = f", {found.installed} already installed and not listed" if found.installed else ""
    sure = f"   fits {found.probability:.2f}" if found.probability is not None else ""
    took = milliseconds(found.milliseconds)
    yield f"{len(found.suggestions)} of {count(found.considered, 'plugin')}{left}{sure}   {took}"


def further(found: MarketplaceReport | None) -> Iterator[Block]:
    """What the marketplace has where a search of tools went on there, apart from the tools."""
    if found is not None and found.suggestions:
        yield f"In the marketplace, not installed ({found.why}):"
        yield from suggestion_lines(found)


def _line(one: Suggestion) -> str:
    terms = terms_text(one.price, one.rating, one.publisher)
    about = f" ({terms})" if terms else ""
    tools = f" Tools: {_names(one.tools)}." if one.tools else ""
    return f"- {one_line(one.plugin)}{about}, fits {percent(one.similarity)}: {one.description}{tools}"


def _names(tools: Sequence[str]) -> str:
    shown = ", ".join(map(one_line, tools[:_NAMED]))
    return f"{shown}, and {len(tools) - _NAMED} more" if len(tools) > _NAMED else shown
