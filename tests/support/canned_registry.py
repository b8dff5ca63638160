"""A registry with some versions and embedded tools, for the registry page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from inspector.adapters.memory.vectors import MemoryEmbedder
from inspector.adapters.sqlite.registry import SqliteRegistry
from inspector.domain.tool import Tool
from inspector.engine.registry.embedding import embed_missing
from inspector.engine.registry.library import RegistryLibrary
from tests.support.office import office

DAY = 86_400.0
FIRST = 1_760_000_000.0
# The first tool of the list, as it was before, and before that.
REFUND = Tool("billing", "refund_invoice", "Refund an invoice in full.")
REFUNDS = (
    REFUND,
    replace(REFUND, description="Refund an invoice in full or in part."),
    replace(
        REFUND,
        description="Refund an invoice in full or in part. Mails the customer a note.",
        input_schema={"type": "object", "properties": {"invoice": {"type": "string"}}},
    ),
)
REST = (
    Tool("billing", "send_reminder", "Remind a customer of an invoice that is late."),
    Tool("warehouse", "find_parcel", "Find the parcel of a late order in the warehouse."),
    Tool("warehouse", "count_stock", "Count the pieces of a product in stock."),
)


class HeldRegistry(SqliteRegistry):
    """A registry whose file goes when nobody holds it any more."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        super().__init__(Path(self.folder.name) / "toolsight.db")


def library_of(*origins: tuple[str, Sequence[Tool]]) -> RegistryLibrary:
    """A library with these tools, each origin synchronised a day after the one before."""
    registry, embedder = HeldRegistry(), MemoryEmbedder()
    for number, (origin, tools) in enumerate(origins):
        registry.sync(origin, tools, at=FIRST + number * DAY)
    embed_missing(registry, embedder, lambda _what, _done, _total: None, lambda: False)
    return RegistryLibrary(lambda: registry, lambda: embedder)


def canned_library() -> RegistryLibrary:
    """The office's own tools, a tool with three versions, and others of servers that are not connected."""
    own = [(name, server.tools) for name, server in office().items()]
    return library_of(*own, *(("billing.json", [version]) for version in REFUNDS), ("acme.jsonl", REST))
