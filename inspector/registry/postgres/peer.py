"""The registry in somebody else's database of PostgreSQL: read as it is, and never migrated."""

from math import ceil

from inspector.registry.postgres.registry import PostgresRegistry
from inspector.search.registry_port import SearchableRegistry


def open_peer(url: str, *, seconds: float) -> SearchableRegistry:
    """The registry at an address, in read-only transactions. Nothing is connected yet.

    Connecting and each statement may take so many `seconds`.
    """
    limit = f"SET statement_timeout = {max(1, round(seconds * 1000))}"
    # libpq takes whole seconds, and at least two.
    return PostgresRegistry(url, timeout=max(2, ceil(seconds)), read_only=True, settings=limit)
