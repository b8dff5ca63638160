"""What could be added to a tool's description so that a query finds it: every promise is kept."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from inspector.access.reach import EvalCase
from inspector.core.ranking import Outcome, SearchRequest
from inspector.core.tool import Tool
from inspector.search.explanation import addition as phrase
from inspector.search.explanation.addition import MOST_SHOWN, Addition, AdditionTrial, Place, worthwhile
from inspector.search.explanation.standing import Standing
from inspector.search.explanation.why_not import why_not
from inspector.search.rankers.catalog_rankers import CatalogRankers
from inspector.search.rankers.ranker_list import RANKERS
from inspector.search.rules import SearchRules
from inspector.search.vocabulary import STOP_WORDS, split_words, stem
from tests.support.retrieval import rankers_of

REMIND = Tool("crm", "send_reminder", "Sends a friendly nudge by mail. Use it sparingly.")
TOOLS = (
    Tool("crm", "list_invoices", "List the invoices of a customer."),
    Tool("crm", "get_customer", "Get a customer by name."),
    Tool("crm", "list_payments", "List payments, also unpaid ones."),
    REMIND,
    Tool("crm", "void_invoice", "Void an invoice."),
    Tool("wiki", "mute", ""),
)
QUERY = "remind a customer about unpaid invoices"
RULES = SearchRules(limit=3, threshold=0.3, closest_threshold=0.3)
CATALOGS = {semantic: rankers_of(TOOLS, semantic=semantic) for semantic in (True, False)}
words = st.sampled_from(
    ["remind", "customer", "unpaid", "the", "about", "invoices", "mail", "zebra", "\ud800", "\0", "İx", "can"]
)
queries = st.lists(words, max_size=7).map(" ".join)


def _words(tool: Tool) -> int:
    return len(tool.description.split())


def _trial(
    query: str = QUERY,
    tool_id: str = REMIND.id,
    *,
    ranker: str = "hybrid",
    rankers: CatalogRankers = CATALOGS[True],
    request: SearchRequest | None = None,
    rules: SearchRules = RULES,
) -> AdditionTrial:
    return AdditionTrial(rankers, ranker, request or SearchRequest(query), tool_id, rules, _words)


@given(
    queries, st.sampled_from(RANKERS), st.sampled_from(TOOLS), st.booleans(), st.sampled_from(["", "", "crm"])
)
def test_a_promised_rank_is_that_of_a_fresh_ranking(
    query: str, ranker: str, tool: Tool, semantic: bool, server: str
) -> None:
    request = SearchRequest(query, server)
    for one in _trial(tool_id=tool.id, ranker=ranker, rankers=CATALOGS[semantic], request=request).all():
        edited = replace(tool, description=one.description)
        fresh = rankers_of([edited if each == tool else each for each in TOOLS], semantic=semantic)
        found = why_not(fresh, ranker, request, tool.id, RULES)
        assert (found.standing.rank, found.cut) == (one.standing.rank, one.cut)
        assert one.tokens == _words(edited) - _words(tool)


@given(queries, st.sampled_from(RANKERS), st.sampled_from(TOOLS))
def test_every_proposal_is_better_than_the_tool_is_and_than_all_smaller_ones(
    query: str, ranker: str, tool: Tool
) -> None:
    trial = _trial(query, tool.id, ranker=ranker)
    found = trial.all()
    reaches = [trial.before, *(one.reach for one in found)]
    assert reaches == sorted(set(reaches), reverse=True)
    assert all(one.standing.rank <= trial.before[1] for one in found)
    assert [one.tokens for one in found] == sorted({one.tokens for one in found})
    assert len(found) <= MOST_SHOWN


standings = st.builds(Standing, st.integers(1, 9), st.floats(0, 1), st.booleans())
additions = st.builds(
    Addition,
    st.text("ab", max_size=3),
    st.sampled_from(Place),
    st.just(""),
    st.integers(-1, 12),
    standings,
    st.none() | st.just(Outcome.UNLIKELY),
)


@given(st.lists(additions, max_size=30), st.tuples(st.booleans(), st.integers(1, 9)))
def test_no_proposal_is_both_longer_and_worse_than_another(
    tried: list[Addition], before: tuple[bool, int]
) -> None:
    found = worthwhile(tried, before)
    assert len(found) <= MOST_SHOWN
    for shorter, longer in pairwise(found):
        assert shorter.tokens < longer.tokens
        assert longer.reach < shorter.reach < before
    rising = [one for one in tried if one.reach < before and one.standing.rank <= before[1]]
    assert bool(found) == bool(rising)
    if rising:
        assert found[-1].reach == min(one.reach for one in rising)


@given(queries, st.sampled_from(TOOLS))
def test_an_addition_says_nothing_that_the_query_does_not(query: str, tool: Tool) -> None:
    ours = {"also", "for", "answers"}
    for one in _trial(query, tool.id).tried():
        said = {word.lower() for word in split_words(one.text)}
        assert said - ours <= {*split_words(query.lower()), *(word.lower() for word in split_words(query))}
        for sentence in tool.description.split(". "):
            assert sentence.rstrip(".") in one.description


VALUES = (
    "remind Alvarez about unpaid invoice 1042",
    "Remind the customer Alvarez of 77 invoices, please. Alvarez's are unpaid",
    "pester bob@example.com of “zebra crossing” in notes/ledger.md by the 5th",
    "don't pester them about invoices_2024 at https://zebra.example",
)


@pytest.mark.parametrize("query", VALUES)
def test_no_value_name_or_stop_word_of_a_request_is_ever_proposed(query: str) -> None:
    values = set(split_words("alvarez 1042 77 bob example com zebra crossing ledger md notes 5 th 2024"))
    tried = list(_trial(query).tried())
    assert tried
    for one in tried:
        said = {word.lower() for word in split_words(one.text)} - {"also", "for"}
        assert said.isdisjoint(values | STOP_WORDS | {"https", "don", "t"})


def test_a_capitalised_word_is_no_name_where_the_catalog_knows_it_or_a_sentence_begins() -> None:
    known = {stem("wiki")}.__contains__
    assert (
        phrase.generic("Mute the Wiki. Zebra I'd mute for Ada", known) == "Mute the Wiki. Zebra I'd mute for"
    )


def _overtaken(*cases: EvalCase, tool_id: str = REMIND.id) -> list[tuple[str, str]]:
    trial = replace(_trial("void the unpaid invoice", tool_id), cases=lambda: cases)
    return [(beaten.tool_id, beaten.query) for one in trial.all() for beaten in one.overtaken]


def test_an_addition_says_which_right_tool_it_would_beat_for_a_known_request() -> None:
    case = EvalCase("1", "void the unpaid invoice", (frozenset({"crm:void_invoice"}),))
    assert ("crm:void_invoice", case.query) in _overtaken(case)


def test_an_addition_takes_nothing_from_requests_for_the_tool_itself_or_for_none() -> None:
    own = EvalCase("1", "void the unpaid invoice", (frozenset({REMIND.id, "crm:void_invoice"}),))
    assert _overtaken(own, EvalCase("2", "void the unpaid invoice"), _gone()) == []


def _gone() -> EvalCase:
    return EvalCase("3", "void the unpaid invoice", (frozenset({"gone:tool"}),))


@given(queries, st.sampled_from(TOOLS), st.sampled_from(TOOLS), queries)
def test_whoever_is_overtaken_was_ahead_and_is_behind(
    query: str, tool: Tool, right: Tool, known: str
) -> None:
    trial = replace(_trial(query, tool.id), cases=lambda: [EvalCase("1", known, (frozenset({right.id}),))])
    for one in trial.all():
        edited = replace(tool, description=one.description)
        fresh = rankers_of([edited if each == tool else each for each in TOOLS])
        is_ahead = [
            [at for at in rankers.get("hybrid").rank(known).order() if TOOLS[at].id in (tool.id, right.id)]
            for rankers in (CATALOGS[True], fresh)
        ]
        assert bool(one.overtaken) == (is_ahead[0] != is_ahead[1] and TOOLS[is_ahead[0][0]].id == right.id)


def test_a_tool_that_lacks_words_is_brought_to_the_first_place_by_few_of_them() -> None:
    trial = _trial()
    found = trial.all()
    assert trial.before[1] > 1
    assert found[-1].standing.rank == 1
    assert found[0].tokens < len(QUERY.split())
    assert any("(unpaid invoices)" in one.description for one in trial.tried())


def test_proposals_arrive_while_others_are_being_tried() -> None:
    seen = list(_trial().run())
    assert len(seen) == len(list(_trial().tried()))
    assert seen[-1] == _trial().all()
    assert len(list(_trial().run(iter([False, True]).__next__))) == 1


def test_where_no_text_can_help_none_is_proposed() -> None:
    for trial in (
        _trial(request=SearchRequest(tool_names=("get_customer",))),
        _trial(request=SearchRequest(QUERY, server_name="wiki")),
        _trial("get a customer by name", "crm:get_customer"),
        _trial("word " * 1000),
    ):
        assert list(trial.run()) == []


def test_a_tool_without_a_description_gets_sentences_alone() -> None:
    texts = {one.description for one in _trial(tool_id="wiki:mute").tried()}
    assert "Remind a customer about unpaid invoices." in texts
    assert "Also for: unpaid." in texts
    assert not any("(" in text for text in texts)


def test_words_side_by_side_in_the_query_stay_a_phrase() -> None:
    missing = phrase.missing_words(QUERY, [stem(word) for word in QUERY.split()])
    assert list(missing.values()) == ["remind", "customer", "unpaid", "invoices"]
    assert phrase.runs(QUERY, missing.values()) == ("remind", "customer", "unpaid invoices")
    listed = list(phrase.listings(QUERY, ("unpaid", "invoices", "customer"), ("invoices", "unpaid")))
    assert listed[0] == ("unpaid invoices",)
    assert listed[-1] == ("customer", "unpaid invoices")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (QUERY, "Remind a customer about unpaid invoices."),
        ("Please can you list late orders?", "List late orders."),
        ("how do I pay\nback an order!", "Pay back an order."),
        ("what is overdue?", "Answers “what is overdue”."),
        ("my open invoices", "Answers “my open invoices”."),
        ("invoices", ""),
        ("", ""),
        ("a \x1b[2J b", ""),
        ("word " * 26, ""),
    ],
)
def test_a_query_becomes_a_sentence_where_it_can(query: str, said: str) -> None:
    assert phrase.sentence(query) == said


@pytest.mark.parametrize(
    ("description", "then"),
    [
        ("Sends mail. Use it.", "Sends mail (late). Use it."),
        ("Sends mail", "Sends mail (late)"),
        ("Sends mail\n\nArgs: none.", "Sends mail (late)\n\nArgs: none."),
        ("Sends v1.2 mail!\nMore", "Sends v1.2 mail (late)!\nMore"),
        ("...", "..."),
    ],
)
def test_a_phrase_goes_before_the_end_of_the_first_sentence(description: str, then: str) -> None:
    assert phrase.in_first_sentence(description, ("late",)) == then


def test_a_sentence_goes_before_or_after_a_description() -> None:
    assert phrase.put_last("B.", "A") == "A. B."
    assert phrase.put_last("B.", "A!\n") == "A! B."
    assert phrase.put_first("B.", " A") == "B. A"
    assert phrase.put_last("B.", "") == phrase.put_first("B.", "") == "B."
