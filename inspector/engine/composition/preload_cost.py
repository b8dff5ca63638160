"""What it costs to bind a tool ahead, and to search for it: in input tokens at full price.

A definition stands before the conversation, so that a provider reads the whole conversation again when one is
added. A search that finds the tool would cause the same, and is a model call besides.
"""

from dataclasses import dataclass

from inspector.domain.prompt_cache import CacheTerms


@dataclass(frozen=True, slots=True)
class Moment:
    """A conversation before its next model call, in tokens.

    `tools` are those of the `tools` array, `rest` what comes after it, `definition` those of the tool in
    question, and `search` those of a search with its result. `calls` is how many model calls are still to
    come, as far as past tasks tell.
    """

    tools: int
    rest: int
    definition: int
    search: float = 0.0
    calls: float = 1.0


def ahead_cost(moment: Moment, terms: CacheTerms) -> float:
    """To bind a tool ahead: the conversation is written again, and every call has one more tool."""
    again = (terms.write - terms.read) * moment.rest
    later = max(moment.calls - 1, 0) * terms.read * moment.definition
    return again + terms.write * moment.definition + later


def search_cost(moment: Moment, terms: CacheTerms) -> float:
    """To search for the tool and bind it then: one model call more, and all of the above."""
    asking = terms.read * (moment.tools + moment.rest)
    return asking + terms.write * moment.search + ahead_cost(moment, terms)


def pays(probability: float, moment: Moment, terms: CacheTerms) -> bool:
    """Whether the search that may be spared, as likely as it is, costs more than what is sent again."""
    return probability * search_cost(moment, terms) > ahead_cost(moment, terms)
