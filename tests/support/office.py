"""Servers with enough tools that a search has results, a limit, and tools that it misses."""

from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from tests.support.memory_servers import MemoryServer

TOOLS = {
    "shop": (
        ("list_orders", "List the orders of a customer, late ones first.", "customer status"),
        ("get_order", "Get one order with its items and its status.", "order"),
        ("refund_order", "Refund an order in part or in full.", "order amount"),
        ("cancel_order", "Cancel an order that has not been sent yet.", "order"),
        ("track_parcel", "Say where the parcel of an order is, and when it arrives.", "order"),
    ),
    "mail": (
        ("send_message", "Send an e-mail message to one or more people.", "recipient subject body"),
        ("search_messages", "Search the messages of a mailbox, for example about a late order.", "words"),
        ("list_folders", "List the folders of a mailbox.", ""),
    ),
    "calendar": (
        ("create_event", "Create a calendar event and invite people.", "title start end"),
        ("list_events", "List the events of a day or a week.", "day"),
    ),
    "calc": (("evaluate", "Evaluate an arithmetic expression.", "expression"),),
}


def office() -> dict[str, MemoryServer]:
    """Four servers; the tools of calc are pinned, the others are deferred."""
    return {
        server: MemoryServer([Tool(server, name, text, _schema(words)) for name, text, words in tools])
        for server, tools in TOOLS.items()
    }


def _schema(words: str) -> JsonObject:
    names = words.split()
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names[:1],
    }
