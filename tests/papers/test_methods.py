"""What each method puts into the context, against cases counted by hand."""

import pytest
from hypothesis import given, strategies as st

from docs.papers.discovery import Discovery, Searcher
from docs.papers.method import (
    Fixed,
    Gated,
    Quality,
    Ranked,
    quality,
)
from docs.papers.task import SINGLE, Step, Task, Turn, tasks
from docs.papers.testbed import build_testbed
from tests.papers.test_testbed import quarter
from tests.support.memory_vectors import MemoryEmbedder

pytestmark = pytest.mark.measured

TOKENS = {"a:read": 10, "a:write": 20, "b:list": 40}
RANKED = Ranked({"find it": (["a:write", "b:list", "a:read"], [0.9, 0.5, 0.2])})


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


def test_discovery_counts_the_meta_tool_every_search_and_every_call() -> None:
    made = build_testbed(quarter)
    found = Discovery("d", made, searcher=Searcher(made, MemoryEmbedder()), count=quarter)
    one = next(t for t in tasks(made, 10) if t.kind == SINGLE)
    (contexts,), run = found.calls(one), found.run(one).turns[0]
    assert run.calls == len(contexts) == 3
    assert not contexts[0].bound
    sizes = [found.meta + sum(made.tokens[t] for t in context.bound) for context in contexts]
    assert run.tools == sum(sizes)
    assert run.traffic == sum(context.traffic for context in contexts)
    assert run.last == sizes[-1]
    assert contexts[0].traffic == 0 < contexts[1].traffic == contexts[2].traffic
    assert run.end == sizes[-1] + contexts[-1].traffic
