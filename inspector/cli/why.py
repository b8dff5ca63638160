"""Why a search finds a tool or not, and which additions to its description would help."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from inspector.cli.table import say, say_json, say_table
from inspector.core.number import ordinal, signed
from inspector.core.ranking import SearchRequest
from inspector.search.answer_text import confidence_beside
from inspector.search.explanation.addition import Addition, AdditionTrial
from inspector.search.explanation.why_not import WhyNot, why_not
from inspector.session.workbench import Workbench


def say_why(
    bench: Workbench,
    request: SearchRequest,
    tool_id: str,
    searched_as: Mapping[str, Any],
    *,
    as_json: bool,
) -> bool:
    """Print why a tool is found or not, and return whether it is. Raises ToolsightError for an unknown tool.

    `searched_as` says for programs as which client it was searched.
    """
    retrieval = bench.retrieval
    rules = replace(retrieval.rules, pinned=frozenset(bench.state.pinned))
    asks = (request, bench.catalog.require(tool_id).id, rules)
    found = why_not(retrieval.rankers, retrieval.ranker_name, *asks)
    trial = AdditionTrial(
        *(retrieval.rankers, retrieval.ranker_name, *asks, bench.accounting.meter.tool),
        cases=retrieval.given,
    )
    additions = trial.all()
    if as_json:
        say_json(asdict(found) | {"additions": [asdict(one) for one in additions]} | dict(searched_as))
    else:
        _say_why(found)
        _say_additions(additions)
    return not found.cut


def _say_why(why: WhyNot) -> None:
    standing = f"rank {why.standing.rank}   score {why.score.value:.3f}"
    say(f"{why.tool_id}   {standing}   {why.cut or 'is a result'}   ({why.ranker})")
    if confidence := confidence_beside(why.probability, why.threshold):
        say(f"{why.answer}   {confidence}")
    if why.rival is not None:
        say(f"compared with {why.rival.tool_id}   rank {why.rival.standing.rank}")
        rows = [
            (
                str(line.signal),
                line.term,
                f"{line.mine:.3f}",
                f"{line.rival:.3f}",
                signed(line.difference, 3),
            )
            for line in why.ledger
        ]
        rows.append(("", "score", "", "", signed(why.difference, 3)))
        say_table(("", "term", "this", "that", "difference"), rows, right=frozenset({2, 3, 4}))
    if why.lacking:
        say(f"missing words: {', '.join(why.lacking)}")
    for sentence in why.advice:
        say(f"- {sentence}")
    if why.note:
        say(why.note)


def _say_additions(additions: Sequence[Addition]) -> None:
    """What was tried and would bring the tool further, smallest first."""
    if not additions:
        return
    say("Additions to its description that would help (draft only):")
    rows = [
        (
            ordinal(one.standing.rank),
            "a result" if one.cut is None else one.cut,
            f"{one.tokens:+,}",
            one.place,
            one.text,
        )
        for one in additions
    ]
    say_table(("rank", "outcome", "tokens", "where", "text"), rows, right=frozenset({0, 2}))
    for one in additions:
        for beaten in one.overtaken:
            say(f"! with “{one.text}”, it outranks {beaten.tool_id} for “{beaten.query}”")
