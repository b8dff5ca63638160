"""The peers that the retrieval benchmark runs beside hybrid."""

from collections.abc import Callable, Sequence

import pytest

from docs.benchmark.peers import Fts5Peer, Peer, RankBm25Peer, with_section
from inspector.core.tool import Tool

WHEN = {"type": "object", "properties": {"deadline": {"type": "string", "description": "Latest weekday."}}}
TOOLS = (
    Tool("mail", "send_mail", "Send a message to a person."),
    Tool("shop", "list_orders", "List orders that are late.", WHEN),
    Tool("wiki", "deletePage", "Delete one page."),
)
PEERS: tuple[Callable[[Sequence[Tool]], Peer], ...] = (Fts5Peer, RankBm25Peer)


@pytest.mark.parametrize("make", PEERS)
def test_the_tool_that_shares_most_words_is_first(make: Callable[[Sequence[Tool]], Peer]) -> None:
    peer = make(TOOLS)
    assert peer.version
    assert [peer.rank(f"please {words}")[0] for words in ("Delete one page", "orders that are late")] == [
        "wiki:deletePage",
        "shop:list_orders",
    ]
    assert peer.rank("delete one page", 1) == ["wiki:deletePage"]


def test_fts5_finds_the_parts_of_names_and_the_texts_of_parameters_and_nothing_else() -> None:
    peer = Fts5Peer(TOOLS)
    assert peer.rank("orders") == peer.rank("deadline") == peer.rank("weekday") == ["shop:list_orders"]
    assert peer.rank("weather") == peer.rank(" ") == []


def test_the_section_of_peers_is_replaced_and_the_rest_of_the_report_kept() -> None:
    published, own = "# Title\n\n## Published data sets\n\n1\n\n", "## The project's own requests\n\n2\n"
    once = with_section(published + own, "## Peers\n\nold")
    assert once == f"{published}## Peers\n\nold\n\n{own}"
    assert with_section(once, "## Peers\n\nnew") == f"{published}## Peers\n\nnew\n\n{own}"
