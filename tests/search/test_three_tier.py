"""Three tiers in their order, the last with a relevance threshold (semantic tool discovery, section 4)."""

from hypothesis import given, strategies as st

from inspector.core.settings import DiscoverySettings
from inspector.core.tool import Tool
from inspector.search.rankers.ranker import Ranking
from tests.support.retrieval import rankers_of

TOOLS = (
    Tool("crm", "list_notes", "List notes of a customer."),
    Tool("memory", "recall_notes", "Recall notes about something."),
    Tool("wiki", "search_notes", "Search notes for words."),
    Tool("wiki", "list_notes", "List notes of the wiki."),
    Tool("mail", "send", "Send a letter to somebody far away."),
)
SETTINGS = DiscoverySettings(expert_tools=("mail:*",), system_servers=("memory",), iso_threshold=0.3)


def ranked(query: str, settings: DiscoverySettings = SETTINGS, *, semantic: bool = True) -> Ranking:
    return rankers_of(TOOLS, semantic=semantic, settings=settings).get("three-tier").rank(query)


def found(query: str, settings: DiscoverySettings = SETTINGS, *, semantic: bool = True) -> list[str]:
    ranking = ranked(query, settings, semantic=semantic)
    return [TOOLS[position].id for position in ranking.order() if ranking.kept[position]]


def test_expert_tools_come_before_system_tools_and_those_before_the_catalog() -> None:
    settings = DiscoverySettings(expert_tools=("crm:*",), system_servers=("memory",), iso_threshold=0.3)
    results = found("search notes for words", settings)
    assert results[:3] == ["crm:list_notes", "memory:recall_notes", "wiki:search_notes"]


def test_a_tool_is_in_the_first_of_its_tiers_only() -> None:
    settings = DiscoverySettings(expert_tools=("memory:*",), system_servers=("memory",))
    parts = ranked("recall notes", settings).explain(1).parts
    assert parts[0].term == "expert"


def test_what_is_not_near_enough_is_not_found() -> None:
    assert found("translate a poem into Klingon") == []
    assert "mail:send" not in found("search notes for words", DiscoverySettings(iso_threshold=0.3))


def test_a_lower_threshold_finds_more_of_the_catalog() -> None:
    lower = DiscoverySettings(iso_threshold=-1)
    assert set(found("translate a poem into Klingon", lower)) == {tool.id for tool in TOOLS}


def test_of_tools_with_one_name_the_later_tier_is_left_out() -> None:
    settings = DiscoverySettings(expert_tools=("crm:*",), iso_threshold=-1)
    assert "wiki:list_notes" not in found("list notes of a customer", settings)
    assert "wiki:list_notes" in found("search for words", settings)
    everything = DiscoverySettings(iso_threshold=-1)
    assert {"crm:list_notes", "wiki:list_notes"} <= set(found("list notes", everything))


def test_without_vectors_words_must_cover_half_of_the_query() -> None:
    assert found("translate a poem into Klingon about notes", semantic=False) == ["memory:recall_notes"]
    assert "wiki:search_notes" in found("search notes", semantic=False)
    assert ranked("search notes", semantic=False).note


@given(st.lists(st.sampled_from(["list", "notes", "send", "recall", "search", "Klingon"]), max_size=4))
def test_tiers_never_mix(chosen: list[str]) -> None:
    tiers = {"mail:send": 0, "memory:recall_notes": 1}
    order = [tiers.get(tool_id, 2) for tool_id in found(" ".join(chosen))]
    assert order == sorted(order)
