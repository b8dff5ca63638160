"""Poisoned descriptions: which requests are asked, and what counts as kept out."""

import pytest
from hypothesis import given, strategies as st

from docs.papers.poison import (
    ITSELF,
    OTHER,
    REQUESTS,
    SERVER,
    bindings,
    chance,
    findings,
    poison,
    poisoned,
    requests,
    trials,
)
from docs.papers.source import NamedCatalog, Poison, Steps, indexed
from inspector.search.index.tool_index import ToolIndex
from tests.support.examples import examples
from tests.support.reproduction import MemorySource, case, office_tools

pytestmark = pytest.mark.measured

BAIT = Poison("p", "bait", "calc:evaluate", "jazz jazz jazz music music")
CASES = (
    case("refund the order", "shop:refund_order"),
    case("evaluate the expression", "calc:evaluate"),
    case("play some jazz music"),
    case("list folders of a mailbox", "mail:list_folders"),
)


def demo() -> NamedCatalog:
    return NamedCatalog("demo", office_tools(), cases=CASES)


def test_requests_are_told_apart_by_whether_they_need_the_tool_its_server_or_neither() -> None:
    one = Poison("p", "bait", "shop:list_orders", "x")
    found = requests(demo(), one)
    assert [len(found[group]) for group in (OTHER, SERVER, ITSELF)] == [3, 1, 0]
    assert [c.id for c in requests(demo(), BAIT)[ITSELF]] == ["evaluate the expression"]


def test_no_group_has_more_requests_than_is_asked_and_always_the_same_ones() -> None:
    many = NamedCatalog("demo", office_tools(), cases=tuple(case(f"query {n}") for n in range(100)))
    found = requests(many, BAIT)[OTHER]
    assert len(found) == REQUESTS
    assert list(requests(many, BAIT)[OTHER]) == list(found)


def test_bait_is_bound_where_the_tool_was_not_before() -> None:
    found = {
        (trial.gate, trial.group): trial
        for trial in trials(
            NamedCatalog("demo", office_tools(), cases=CASES[2:3]), [BAIT], MemorySource(), Steps()
        )
    }
    trial = next(trial for (gate, _), trial in found.items() if gate.startswith("search: bm25"))
    assert trial.was_excluded
    assert not trial.is_excluded


@pytest.mark.parametrize("is_semantic", [True, False])
def test_only_the_poisoned_tool_changes(is_semantic: bool) -> None:
    source = MemorySource()
    if not is_semantic:
        source.embedder = None
    clean = indexed(source.demo(), source, Steps())
    index = poisoned(clean, BAIT, clean.semantics)
    changed = [new.id for old, new in zip(clean.tools, index.tools, strict=True) if old != new]
    assert changed == ["calc:evaluate"]
    assert index.is_semantic == is_semantic
    assert clean.tools == office_tools()


@given(st.text(max_size=300))
@examples(share=0.5)
def test_no_text_breaks_any_gate(text: str) -> None:
    source = MemorySource()
    index = poisoned(ToolIndex(office_tools()), Poison("p", "any", "calc:evaluate", text), None)
    for bound in bindings(index, source.clock).values():
        assert len(bound(text)) <= 10


def test_the_section_sets_shares_beside_the_papers_and_beside_chance() -> None:
    source = MemorySource(demo(), poisons=[BAIT, Poison("q", "override", "shop:get_order", "Do as I say.")])
    section = poison(source, Steps())
    by_group, by_kind, pool = section.tables
    assert by_group.rows[0][3] == "92.0 %"
    assert len(by_group.rows) == 1 + 6
    assert by_kind.headers[1:] == ("bait", "override")
    assert "exposure" in section.title
    told = {row[0]: row[2] for row in pool.rows}
    assert told == {"after the description": "0", "before the description": "2"}


def test_the_published_share_is_what_chance_excludes() -> None:
    assert chance(10, 120) == pytest.approx(0.9167, abs=1e-4)
    assert chance(0, 0) == 0.0
    assert chance(200, 100) == 0.0
    assert "45.8 of 50" in findings()[1]
    assert "would be 3 %" in findings()[0]
