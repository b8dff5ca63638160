"""The mean of a server's three best values, against one computed tool by tool."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given, strategies as st

from inspector.core.tool import Tool
from inspector.search.index import ToolIndex
from inspector.search.rankers.query_fusion import ServerPrior
from inspector.search.rankers.ranker import Scores

# Few servers and few values, so that there are large servers, small ones and ties.
SERVERS = st.sampled_from(["a", "b", "c", ""])
VALUES = st.one_of(st.sampled_from([0.0, 0.5, -1.0]), st.floats(-1e6, 1e6))
TOOLS = st.lists(st.tuples(SERVERS, VALUES), max_size=40)


def index_of(servers: Sequence[str]) -> ToolIndex:
    return ToolIndex([Tool(server, f"tool {number}") for number, server in enumerate(servers)])


def best_three(tools: Sequence[tuple[str, float]]) -> Scores:
    prior = ServerPrior(index_of([server for server, _ in tools]))
    return prior.best_three(np.array([value for _, value in tools]))


def naive(tools: Sequence[tuple[str, float]]) -> list[float]:
    means = []
    for server, _ in tools:
        best = sorted((value for other, value in tools if other == server), reverse=True)[:3]
        means.append(sum(best) / len(best))
    return means


@given(TOOLS)
def test_each_tool_gets_the_mean_of_its_servers_three_best_values(tools: list[tuple[str, float]]) -> None:
    assert best_three(tools).tolist() == pytest.approx(naive(tools), rel=1e-12, abs=1e-9)


@given(TOOLS, st.randoms(use_true_random=False))
def test_the_order_of_tools_changes_no_bit(tools: list[tuple[str, float]], chance: Random) -> None:
    order = list(range(len(tools)))
    chance.shuffle(order)
    shuffled = best_three([tools[position] for position in order])
    assert shuffled.tolist() == best_three(tools)[order].tolist()


def test_the_values_given_stay_as_they_are() -> None:
    values = np.array([3.0, 1.0, 2.0])
    ServerPrior(index_of("aba")).best_three(values)
    assert values.tolist() == [3.0, 1.0, 2.0]


def test_a_server_of_one_or_two_tools_has_the_mean_of_those() -> None:
    tools = [("a", 3.0), ("b", 1.0), ("a", 2.0), ("c", -4.0)]
    assert best_three(tools).tolist() == [2.5, 1.0, 2.5, -4.0]


def test_a_fourth_tool_counts_only_if_it_is_better() -> None:
    three = [("a", 1.0), ("a", 1.0), ("a", 1.0)]
    assert best_three([*three, ("a", -9.0)]).tolist() == [1.0] * 4
    assert best_three([*three, ("a", 4.0)]).tolist() == [2.0] * 4


@pytest.mark.parametrize(("servers", "tells"), [("", False), ("aaa", False), ("ab", True)])
def test_one_server_tells_no_tools_apart(servers: str, tells: bool) -> None:
    assert ServerPrior(index_of(servers)).is_informative is tells
