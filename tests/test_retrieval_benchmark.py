"""Which rankers a data set says something about."""

from docs.benchmark.retrieval import STAGED, measurable
from inspector.access.reach import EvalCase, EvalSet
from inspector.core.tool import Tool

NAMELESS = (Tool("", "one"), Tool("", "two"))
CASES = tuple(EvalCase(tool.id, tool.name, (frozenset({tool.id}),)) for tool in NAMELESS)


def test_no_ranker_that_chooses_a_server_first_is_measured_where_there_is_none_to_choose() -> None:
    alone = EvalSet("alone", NAMELESS, CASES)
    among_others = alone.with_distractors("among others", (Tool("mail", "send"),))
    for evalset in (alone, among_others):
        assert not STAGED & set(measurable(evalset))
        assert "hybrid" in measurable(evalset)


def test_where_requests_need_tools_of_several_servers_it_is_measured() -> None:
    tools = (Tool("a", "one"), Tool("b", "two"))
    cases = tuple(EvalCase(tool.id, tool.name, (frozenset({tool.id}),)) for tool in tools)
    assert set(measurable(EvalSet("servers", tools, cases))) >= STAGED
