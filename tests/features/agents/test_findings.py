"""What sessions of agents show: misses, tools that were loaded for nothing, servers, money."""

import gc
import sys
from collections.abc import Iterator

import pytest
from hypothesis import example, given, strategies as st
from msgspec.structs import replace

from inspector.core.budget import Prices
from inspector.core.events import CallFinished, Record, TurnEnded, UserSaid
from inspector.core.message import Usage
from inspector.features.agents.finding import Findings, agent_report, findings
from inspector.features.agents.importing import Importer
from inspector.features.agents.transcript import (
    TOTALS,
    AgentTool,
    Answered,
    Asked,
    Called,
    Entry,
    Searched,
    ToolsOffered,
)
from inspector.features.agents.transcript_file.format import Format
from inspector.features.agents.transcript_file.reader import open_transcript
from inspector.search.index.vocabulary import terms
from inspector.session.miss import Miss, backlog, misses
from inspector.store.store import MemoryStore
from tests.core.test_event import records
from tests.features.agents.test_agent_session import LATE, ORDERS, events
from tests.support.fakes import WordCounter
from tests.support.transcripts import FILES

POST = AgentTool("post", "chat", "mcp__chat__post")
DEFINED = AgentTool("list_orders", "shop", ORDERS.sent, {"description": "Lists all orders"})
OFFER = ToolsOffered((ORDERS, LATE, POST), deferred=True)
PRICES = Prices("m", input=3e-6, output=15e-6, cache_read=3e-7, cache_write=3.75e-6)


def search(query: str, *found: AgentTool) -> tuple[Entry, ...]:
    """A model call that searches, and what came back."""
    return Answered("a", "m"), Searched("s", query, found=found)


def call(tool: AgentTool) -> tuple[Entry, ...]:
    return Answered("a", "m"), Called("c", tool)


BOTH = (Answered("a", "m"), Searched("s1", "late", found=(LATE,)), Searched("s2", "post", found=(POST,)))


@pytest.mark.parametrize(
    ("said", "queries"),
    [
        ((*search("late", ORDERS), *search("overdue", LATE), *call(LATE)), ["late"]),
        ((*search("late", LATE), *call(LATE), *search("post", POST), *call(POST)), []),
        # Searches of one model call are not each other's next.
        ((*BOTH, *call(POST)), []),
        ((*BOTH, *search("again", ORDERS), *call(ORDERS)), ["late", "post"]),
        # Nothing found is a miss even as the last, and nothing searched for is none.
        (search("teleport"), ["teleport"]),
        (search("late", LATE), []),
        (search(""), []),
    ],
)
def test_a_search_missed_if_it_found_nothing_or_another_followed_before_a_call(
    said: tuple[Entry, ...], queries: list[str]
) -> None:
    assert [one.query for one in misses(records(events(OFFER, Asked("hi"), *said)))] == queries


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=4).map(" ".join), max_size=30))
@example(["bread cheese", "dark elephant", "bread cheese dark elephant"])
def test_a_search_joins_the_group_that_shares_most_words_whatever_is_looked_at(queries: list[str]) -> None:
    """The groups found by their words are those that comparing each with each finds."""
    groups: list[tuple[frozenset[str], list[str]]] = []
    for query in queries:
        words = frozenset(terms(query))

        def alike(group: tuple[frozenset[str], list[str]], words: frozenset[str] = words) -> float:
            either = len(group[0] | words)
            return len(group[0] & words) / either if either else 1.0

        best = max(groups, key=alike, default=None)
        if best is None or alike(best) < 0.4:
            best = (words, [])
            groups.append(best)
        best[1].append(query)
    expected = sorted(groups, key=lambda group: -len(group[1]))
    told = backlog(Miss("s", number, query) for number, query in enumerate(queries))
    assert [(one.words, one.count) for one in told] == [(words, len(held)) for words, held in expected]


def found_in(*said: Entry) -> Findings:
    return findings(records(events(*said)), lambda model: PRICES if model == "m" else None)


def test_findings_count_what_each_server_knew_loaded_and_did() -> None:
    found = found_in(OFFER, Asked("hi"), *search("late", LATE, ORDERS), *call(LATE), *call(LATE))
    shop, chat = found.servers["shop"], found.servers["chat"]
    assert (len(shop.known), len(shop.deferred), shop.calls) == (2, 2, 2)
    assert (shop.called, shop.unused) == ({"shop:late_orders"}, {"shop:list_orders"})
    assert (len(chat.known), chat.calls) == (1, 0)


def test_definition_tokens_of_a_tool_that_a_search_defined_count_too() -> None:
    names = ToolsOffered((ORDERS,), deferred=True)
    found = found_in(names, *search("late", DEFINED), Answered("b"))
    offered = found_in(ToolsOffered((DEFINED,), deferred=True), *search("late", DEFINED), Answered("b"))
    assert found.servers["shop"].tokens == offered.servers["shop"].tokens > 0


def test_tokens_of_a_tool_are_its_definition_in_each_request_and_its_calls_once() -> None:
    defined = ToolsOffered((DEFINED,))
    said = Called("c", DEFINED, {"week": 3}, "three orders are late")
    found = found_in(defined, Answered("a"), said, Answered("b"), Answered("c"), replace(said, unread=True))
    use = found.tools["shop:list_orders"]
    assert (use.calls, use.sent, use.results) == (
        2,
        3 * use.definition,
        4 + WordCounter().count('{"week":3}'),
    )
    shop = found.servers["shop"]
    assert (shop.tokens, shop.results) == (use.sent, use.results)


def test_totals_are_paid_and_are_no_model_call_of_their_own() -> None:
    first = Answered("a", "m", usage=Usage(output_tokens=5))
    totals = Answered("t", "m", usage=Usage(90, 7, 60), finish_reason=TOTALS, tool_tokens=4200)
    found = found_in(ToolsOffered((DEFINED,)), first, totals, Asked("on"), replace(totals, id="u"))
    alone = found_in(ToolsOffered((DEFINED,)), first)
    assert (found.model_calls, found.tools, found.tool_tokens) == (1, alone.tools, 4200)
    told = found.reported
    assert (told.calls, told.input, told.output, told.read, told.priced) == (1, 180, 19, 120, 1)
    assert told.dollars == pytest.approx(2 * (30 * 3e-6 + 60 * 3e-7) + 19 * 15e-6)
    assert found.rewrites == ()


# In Vibe code of the model calls the tools, and reads their results.
@pytest.mark.parametrize("kind", [kind for kind in Format if kind is not Format.VIBE])
def test_every_format_has_the_tokens_of_each_tool_that_was_called(kind: Format) -> None:
    store = MemoryStore()
    Importer(store, lambda _: WordCounter()).run(open_transcript(FILES[kind]).entries(), file="f", at=1.0)
    for session in store.sessions():
        stream = store.read(session.id)
        found = findings(stream, lambda _: None)
        called = [one.event for one in stream if isinstance(one.event, CallFinished)]
        assert all(found.tools[one.tool].results > 0 for one in called if one.text)
        assert sum(use.results for use in found.tools.values()) == sum(one.tokens or 0 for one in called)


def test_money_is_the_reported_tokens_at_the_prices_of_their_model() -> None:
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=800, written_tokens=100)
    reported = found_in(Answered("a", "m", usage=usage), Answered("b", "unlisted", usage=usage)).reported
    assert (reported.calls, reported.priced, reported.input) == (2, 1, 2000)
    assert reported.dollars == pytest.approx(800 * 3e-7 + 100 * 3.75e-6 + 100 * 3e-6 + 100 * 15e-6)


def test_an_answer_that_two_sessions_hold_is_paid_once() -> None:
    usage, other = Usage(1000, 100), Usage(1000, 101)
    parent = found_in(Answered("a", "m", usage=usage), Answered("b", "m", usage=usage))
    fork = found_in(Answered("a", "m", usage=usage), Answered("c", "m", usage=usage))
    # Some agents number the answers of each session.
    numbered = found_in(Answered("a", "m", usage=other), Answered("", "m", usage=usage))
    nameless = found_in(Answered("", "m", usage=usage))
    assert fork.reported.calls == 2
    report = agent_report([parent, fork, numbered, nameless])
    assert (report.reported.calls, report.reported.input) == (6, 6000)


def test_no_record_of_a_turn_that_is_over_is_kept() -> None:
    """A session may have millions."""
    first = Record("s", 1, 1.0, UserSaid("late orders"))
    unused = sys.getrefcount(first)

    def read() -> Iterator[Record]:
        yield first
        yield from records([TurnEnded("answered", ""), UserSaid("next"), TurnEnded("answered", "")], "s")
        gc.collect()
        assert sys.getrefcount(first) == unused

    findings(read(), lambda _model: None)
