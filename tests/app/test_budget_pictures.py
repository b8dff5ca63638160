"""How the budget page looks; the pictures are compared."""

import pytest

from inspector.adapters.memory.fakes import MemoryServer
from inspector.adapters.tokens.tiktoken_counter import TiktokenCounter
from inspector.domain.jsonvalue import JsonObject
from inspector.domain.price import Prices
from inspector.domain.tool import Tool
from tests.support.picture import Shown, SnapCompare, after, still
from tests.support.told_model import ToldModel, calls, says, searches
from tests.support.workbench import READS

__all__ = ["still"]

PRICES = Prices("told", 1.25e-6, 1e-5, 1.25e-7, source="litellm's price list", date="2026-11-02")
NOUNS = {
    "tracker": "issue board sprint milestone label comment attachment worklog epic release",
    "shop": "order customer product invoice parcel refund coupon warehouse",
    "wiki": "page space template revision",
    "mail": "message folder draft",
    "calc": "expression",
}
VERBS = ("list", "get")
FIELDS = {
    "filter": "Words that have to occur in the name, the description or one of the labels.",
    "since": "Leave out what was last changed before this day, as YYYY-MM-DD.",
    "limit": "How many to return at most, between 1 and 100; 20 if it is left out.",
    "sort": "The field to sort by, with a minus in front of it for the newest first.",
}
STEPS = (
    searches(query="list late orders"),
    calls(("shop__list_order", {"filter": "late"})),
    searches(query="list messages"),
    calls(("mail__list_message", {"filter": "order 7", "limit": "5"})),
    says("Order 7 is late; its customer has written twice."),
)
ASKED = (*"late", "enter", "f5")


@pytest.fixture(autouse=True)
def window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToldModel, "window", 16_000)


def _schema(noun: str) -> JsonObject:
    fields = {**FIELDS, noun: f"The id of one {noun}, as a search for it returns it."}
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in fields.items()},
        "required": [noun],
    }


def firm() -> dict[str, MemoryServer]:
    """Five servers, 52 tools, with parameters that are explained; the tools of calc are always bound."""
    return {
        server: MemoryServer(
            [
                Tool(
                    server, f"{verb}_{noun}", f"{verb.title()} every {noun} that fits.", _schema(noun), READS
                )
                for noun in nouns.split()
                for verb in VERBS
            ]
        )
        for server, nouns in NOUNS.items()
    }


def shown() -> Shown:
    return Shown(*STEPS, servers=firm(), counter_for=lambda _: TiktokenCounter("gpt-5"), prices=(PRICES,))


PAGES = {
    "now": after(*ASKED),
    "tried": after(*ASKED, "d", "down", "enter", "down", "p"),
    "calls": after(*ASKED, "2"),
    "ways": after(*ASKED, "3"),
    "empty": after("f5"),
}


@pytest.mark.parametrize("size", [(80, 24), (120, 32)])
@pytest.mark.parametrize("name", PAGES)
def test_the_page_looks_the_same(snap_compare: SnapCompare, name: str, size: tuple[int, int]) -> None:
    assert snap_compare(shown(), terminal_size=size, run_before=PAGES[name])


def test_the_page_looks_the_same_in_light(snap_compare: SnapCompare) -> None:
    run = after(*ASKED, light=True)
    assert snap_compare(shown(), terminal_size=(200, 60), run_before=run)
