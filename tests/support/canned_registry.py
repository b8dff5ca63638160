"""A registry with some versions and embedded tools, for the registry page."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from inspector.core.access import EVERYTHING, Grant, Scope, Sight
from inspector.core.error import StoreError
from inspector.core.tool import Tool
from inspector.registry.embedding import embed_missing
from inspector.registry.federation import Federation, Member
from inspector.registry.library import RegistryLibrary
from inspector.registry.sqlite import SqliteRegistry
from inspector.search.ports import Neighbour
from tests.support.memory_vectors import MemoryEmbedder
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

# A peer's: the first has the id of a tool of the office.
THEIRS = (
    Tool("shop", "list_orders", "Find the late orders of a customer."),
    Tool("claims", "refund_claim", "Refund an invoice that a customer claims."),
    Tool("vault", "open_vault", "Refund an invoice from the vault."),
)


class HeldRegistry(SqliteRegistry):
    """A registry whose file goes when nobody holds it any more."""

    def __init__(self) -> None:
        self.folder = TemporaryDirectory()
        super().__init__(Path(self.folder.name) / "toolsight.db")


class AwayRegistry(HeldRegistry):
    """A registry that nobody reaches."""

    def nearest(
        self,
        _model: str,
        _vector: Sequence[float],
        _count: int,
        _sight: Sight = EVERYTHING,
        *,
        floor: float = -1.0,  # noqa: ARG002
    ) -> tuple[Neighbour, ...]:
        raise StoreError("it is away", hint="Ask whoever keeps it.")


def registry_of(*origins: tuple[str, Sequence[Tool]]) -> HeldRegistry:
    """A registry with these tools, each origin synchronised a day after the one before."""
    registry = HeldRegistry()
    for number, (origin, tools) in enumerate(origins):
        registry.sync(origin, tools, at=FIRST + number * DAY)
    embed_missing(registry, MemoryEmbedder(), lambda _what, _done, _total: None, lambda: False)
    return registry


def library_of(*origins: tuple[str, Sequence[Tool]], federation: Federation | None = None) -> RegistryLibrary:
    """A library with these tools."""
    registry, embedder = registry_of(*origins), MemoryEmbedder()
    return RegistryLibrary(lambda: registry, lambda: embedder, federation=lambda: federation)


def canned_federation() -> Federation:
    """A peer with three tools of which two may be seen, and one that is away."""
    acme, away = registry_of(("acme.jsonl", THEIRS)), AwayRegistry()
    sight = Sight("ada", grants=(Grant(Scope.USER, "ada", "acme", ("shop:*", "claims:*")),))
    members = Member("acme", lambda: acme, lambda: sight), Member("post", lambda: away)
    return Federation(members, seconds=60)


def canned_library(federation: Federation | None = None) -> RegistryLibrary:
    """The office's own tools, a tool with three versions, and others of servers that are not connected."""
    own = [(name, server.tools) for name, server in office().items()]
    others = (*(("billing.json", [version]) for version in REFUNDS), ("acme.jsonl", REST))
    return library_of(*own, *others, federation=federation)
