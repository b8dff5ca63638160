"""What each method puts into the context, against cases counted by hand."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from docs.papers.discovery import Discovery, Searcher
from docs.papers.method import (
    CommandLine,
    Fixed,
    Gated,
    Quality,
    Ranked,
    help_text,
    list_text,
    most_needed,
    quality,
    ranked,
    tf_idf,
)
from docs.papers.task import LONG, SINGLE, Step, Task, Turn, tasks
from docs.papers.testbed import build_testbed
from inspector.core.settings import BindingSettings
from tests.papers.test_testbed import quarter
from tests.support.memory_vectors import MemoryEmbedder

pytestmark = pytest.mark.measured

TOKENS = {"a:read": 10, "a:write": 20, "b:list": 40}
RANKED = Ranked({"find it": (["a:write", "b:list", "a:read"], [0.9, 0.5, 0.2])})
MADE = build_testbed(quarter)


def task(*needed: str, scopes: frozenset[str] = frozenset()) -> Task:
    steps = tuple(Step("find it", tool_id) for tool_id in needed)
    return Task(SINGLE, (Turn("find it", steps),), scopes)


def test_the_tokens_of_a_turn_are_summed_over_its_calls() -> None:
    """One call for each step, and one that answers."""
    fixed = Fixed("all", frozenset(TOKENS), TOKENS)
    run = fixed.run(task("a:read"))
    assert (run.tools, run.per_call, run.calls) == (2 * 70, 70, 2)
    assert fixed.run(task("a:read", "b:list")).tools == 3 * 70
    assert fixed.run(task()).tools == 70
    assert run.end == 70
    assert run.bound == Quality(1 / 3, 1.0, 0.5)


def test_the_gate_binds_what_is_close_enough() -> None:
    run = Gated("gate", RANKED, TOKENS, threshold=0.5).run(task("b:list"))
    assert run.turns[0].bound == {"a:write", "b:list"}
    assert (run.tools, run.per_call) == (2 * 60, 60)
    assert (run.bound.precision, run.bound.recall) == (0.5, 1.0)
    assert run.bound.f1 == pytest.approx(2 / 3)


def test_the_gate_binds_at_most_k() -> None:
    assert Gated("gate", RANKED, TOKENS, top_k=1).run(task("b:list")).turns[0].bound == {"a:write"}


def test_a_tool_whose_scope_is_missing_takes_no_place() -> None:
    gate = Gated("gate", RANKED, TOKENS, top_k=1, writing=frozenset({"a:write"}))
    assert gate.run(task("b:list")).turns[0].bound == {"b:list"}
    assert gate.run(task("b:list", scopes=frozenset({"a"}))).turns[0].bound == {"a:write"}


def test_a_gate_that_binds_nothing_has_no_quality() -> None:
    run = Gated("gate", RANKED, TOKENS, threshold=0.95).run(task("b:list"))
    assert run.tools == 0
    assert run.bound == Quality(0.0, 0.0, 0.0)


@given(
    chosen=st.frozensets(st.sampled_from("abcdef")),
    needed=st.frozensets(st.sampled_from("abcdef"), min_size=1),
)
def test_f1_is_the_harmonic_mean_of_precision_and_recall(
    chosen: frozenset[str], needed: frozenset[str]
) -> None:
    found = quality(chosen, needed)
    total = found.precision + found.recall
    assert found.f1 == pytest.approx(2 * found.precision * found.recall / total if total else 0.0)


def test_a_command_line_pays_for_a_list_and_a_help_once() -> None:
    line = CommandLine(MADE, quarter, "cli")
    tool = MADE.tools[0]
    listed = quarter(list_text(tool.server, [t for t in MADE.tools if t.server == tool.server]))
    helped = quarter(help_text(tool))
    turn = Turn("go", (Step("go", tool.id),))
    first, second = line.run(Task(LONG, (turn, turn), frozenset())).turns
    assert first.end == second.end == second.per_call == line.prompt + listed + helped
    # The prompt alone, with the list, with the help, and once more for the answer.
    assert first.tools == 4 * line.prompt + (0 + listed + 2 * (listed + helped))
    assert (first.calls, second.calls) == (4, 2)


def test_the_most_needed_tools_are_kept() -> None:
    wanted = [task("a:read"), task("a:read", "b:list"), task("b:list", "a:read", "a:write")]
    assert most_needed(wanted, 2) == {"a:read", "b:list"}


def test_tools_are_ranked_from_the_closest_and_equals_in_their_order() -> None:
    order = ranked(np.array([[0.1, 0.9, 0.9]]), ["q"], ["x", "y", "z"])
    assert order.by_text["q"][0] == ["y", "z", "x"]


def test_rare_words_count_more_for_tf_idf_and_unknown_ones_nothing() -> None:
    table = tf_idf(["list orders", "zebra", ""], ["list orders", "list users", "list files"])
    assert table[0].argmax() == 0
    assert table[0, 0] == pytest.approx(1.0)
    assert not table[1:].any()


def test_discovery_never_binds_more_than_its_capacity() -> None:
    searcher = Searcher(MADE, MemoryEmbedder())
    bounded = Discovery("d", MADE, searcher=searcher, count=quarter, binding=BindingSettings(capacity=6))
    for one in tasks(MADE, 12):
        for contexts in bounded.calls(one):
            assert all(len(context.bound) <= 6 for context in contexts)


def test_discovery_counts_the_meta_tool_every_search_and_every_call() -> None:
    found = Discovery("d", MADE, searcher=Searcher(MADE, MemoryEmbedder()), count=quarter)
    one = next(t for t in tasks(MADE, 10) if t.kind == SINGLE)
    (contexts,), run = found.calls(one), found.run(one).turns[0]
    assert run.calls == len(contexts) == 3
    assert not contexts[0].bound
    sizes = [found.meta + sum(MADE.tokens[t] for t in context.bound) for context in contexts]
    assert run.tools == sum(sizes)
    assert run.traffic == sum(context.traffic for context in contexts)
    assert run.last == sizes[-1]
    assert contexts[0].traffic == 0 < contexts[1].traffic == contexts[2].traffic
    assert run.end == sizes[-1] + contexts[-1].traffic


def test_a_model_that_sees_what_it_has_searches_less() -> None:
    searcher = Searcher(MADE, None)
    tool = MADE.tools[0]
    turn = Turn("pull requests list", (Step("pull requests list", tool.id),))
    one = Task(LONG, (turn, turn), frozenset())
    always, missing = (
        Discovery("d", MADE, searcher=searcher, count=quarter, only_missing=flag).run(one)
        for flag in (False, True)
    )
    assert tool.id in missing.turns[0].bound
    assert (always.turns[1].calls, missing.turns[1].calls) == (3, 2)
    assert missing.turns[1].traffic < always.turns[1].traffic
