"""Compares one search for a whole request with one search for each of its steps, as the ranker reads them."""

from dataclasses import dataclass

from inspector.core.ranking import Answer, SearchRequest
from inspector.search.explanation.standing import Standings
from inspector.search.explanation.verdict import Verdict
from inspector.search.query.parsed import parse
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rules import SearchRules


@dataclass(frozen=True, slots=True)
class StepSearch:
    """The ids that a search for `text` returns, best first.

    `probability` is how likely it is that any tool fits, None if the ranker does not estimate it.
    """

    text: str
    tool_ids: tuple[str, ...]
    probability: float | None = None
    answer: Answer = Answer.FOUND


@dataclass(frozen=True, slots=True)
class Steps:
    """The search for the whole request and the searches for its steps, in order.

    `only_steps` holds tools that a step finds but the whole request does not, in step order; `only_whole` the
    reverse.
    """

    whole: StepSearch
    steps: tuple[StepSearch, ...]
    only_steps: tuple[str, ...]
    only_whole: tuple[str, ...]


def by_step(rankers: CatalogRankers, ranker_name: str, text: str, rules: SearchRules) -> Steps:
    """Search for `text` as a whole and step by step.

    Raises ToolsightError for an unknown ranker, ModelError if a text cannot be embedded.
    """
    whole = _search(rankers, ranker_name, text, rules)
    steps = tuple(_search(rankers, ranker_name, step, rules) for step in parse(text).steps or (text,))
    found = dict.fromkeys(tool_id for step in steps for tool_id in step.tool_ids)
    return Steps(
        whole,
        steps,
        tuple(tool_id for tool_id in found if tool_id not in whole.tool_ids),
        tuple(tool_id for tool_id in whole.tool_ids if tool_id not in found),
    )


def _search(rankers: CatalogRankers, ranker_name: str, text: str, rules: SearchRules) -> StepSearch:
    ranking, request = rankers.get(ranker_name).rank(text), SearchRequest(text)
    verdict = Verdict(rankers, request, Standings(ranking, rules.likely(ranking, request)), rules)
    positions = () if verdict.told is Answer.NOTHING else verdict.results
    tool_ids = tuple(rankers.index.tools[position].id for position in positions)
    return StepSearch(text, tool_ids, ranking.probability, verdict.told)
