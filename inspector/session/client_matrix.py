"""What several clients make of a catalog, side by side: a row for each tool, a column for each client."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from inspector.clients.client import Client, Kind
from inspector.clients.delivery import Delivery, Fate, Reason
from inspector.core.definition import declared
from inspector.core.number import count
from inspector.core.report import NAME, Column, Table
from inspector.session.client_view import ClientView, delivery_json

SIGNS = {Fate.WHOLE: "✓", Fate.CHANGED: "~", Fate.REFUSED: "✕", Fate.LOST: "∅"}
"""How a verdict is drawn in a cell, before its word."""
AS_GOOD = "≈"
"""In place of that, if it takes nothing from a model."""
WAITING = "…"
"""The cell of a client that was not looked at yet."""

Row = tuple[Delivery, Mapping[str, Delivery]]
"""A tool as one client gets it, which names the row, and as each does, by the client's name."""


def rows(views: Sequence[ClientView]) -> tuple[Row, ...]:
    """Every tool that is listed; all clients have them in the same order."""
    names = [view.client.name for view in views]
    return tuple(
        (of[0], dict(zip(names, of, strict=True))) for of in zip(*(view.tools for view in views), strict=True)
    )


def fate_table(clients: Sequence[Client], found: Sequence[Row]) -> Table:
    """What becomes of each tool in each client: a sign and a word."""

    def told(client: Client) -> Column:
        return Column(client.name, lambda row: fate(row[1].get(client.name)), NAME)

    return Table.of((Column("tool", lambda row: row[0].id), *map(told, clients)), found)


def fate(one: Delivery | None) -> str:
    """What becomes of a tool, in a sign and a word."""
    return WAITING if one is None else f"{AS_GOOD if one.is_as_good else SIGNS[one.fate]} {one.fate}"


def reason_lines(views: Sequence[ClientView]) -> Iterator[str]:
    """Why tools are not whole, the worst first: once for all clients with the same, and an example."""
    same: dict[tuple[str, Kind, str, str], list[str]] = {}
    for view in views:
        for (sign, kind), reasons in _by_kind(view).items():
            of, first = reasons[0]
            number = count(len(reasons), "tool" if sign in SIGNS.values() else "server")
            sure = f"{view.client.name} ({first.confidence})"
            same.setdefault((sign, kind, number, f"{of}: {first.says}"), []).append(sure)
    signs, kinds = [*reversed(SIGNS.values()), "⚠"], list(Kind)
    for one in sorted(same, key=lambda one: (signs.index(one[0]), kinds.index(one[1]))):
        sign, kind, number, example = one
        yield f"{sign} {kind}: {number} in {', '.join(same[one])}"
        yield f"    {example}"


def _by_kind(view: ClientView) -> Mapping[tuple[str, Kind], list[tuple[str, Reason]]]:
    """Why its tools are not whole, and what else is known of its servers, with the tool or the server."""
    found: dict[tuple[str, Kind], list[tuple[str, Reason]]] = {}
    for one in view.tools:
        for reason in one.reasons:
            found.setdefault((SIGNS[one.fate], reason.kind), []).append((one.id, reason))
    for server in view.deliveries:
        for reason in server.own:
            if reason.kind is not Kind.UNKNOWN:
                found.setdefault(("⚠", reason.kind), []).append((server.listed.server, reason))
    return found


def matrix_json(found: Sequence[Row]) -> list[dict[str, Any]]:
    """Each tool as its server declares it, and as each client's model gets it."""
    return [
        {
            "tool": one.id,
            "declared": declared(one.seen.tool) if one.seen else None,
            "clients": [{"client": name, **delivery_json(each)} for name, each in by_client.items()],
        }
        for one, by_client in found
    ]
