"""A firm's servers, with tools enough that discovery pays, and a conversation over them."""

from inspector.core.budget import Prices
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from tests.support.fakes import calls, says, searches
from tests.support.memory_servers import MemoryServer
from tests.support.workbench import READS

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


def _firm_schema(noun: str) -> JsonObject:
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
                    server,
                    f"{verb}_{noun}",
                    f"{verb.title()} every {noun} that fits.",
                    _firm_schema(noun),
                    READS,
                )
                for noun in nouns.split()
                for verb in VERBS
            ]
        )
        for server, nouns in NOUNS.items()
    }
