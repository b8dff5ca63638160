"""What a client's model was given and never called, over many sessions, and what that took."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from inspector.core.ports import SessionSummary
from inspector.features.agents.finding import Findings, ServerUse, ToolUse, agent_report, tool_uses

DAYS = 30
"""How many days are looked at, if a person does not say so."""
_DAY_SECONDS = 86_400


class Waste(Struct, frozen=True):
    """An unused tool: the tokens of its definition in one request, and in all `requests` that had it.

    What only a tap saw has no request. `dollars` are None if what its client's input costs is not known.
    """

    name: str
    requests: int
    definition: int
    tokens: int
    dollars: float | None


class ServerWaste(Struct, frozen=True):
    """A server: the names of its tools that were called, and the unused ones, those that took most first."""

    server: str
    called: tuple[str, ...]
    unused: tuple[Waste, ...]

    def total(self, field: str) -> float | None:
        """The sum of a field over the unused tools; None if nobody knows it of any."""
        known = [value for tool in self.unused if (value := getattr(tool, field)) is not None]
        return sum(known) if known else None


class ClientUse(Struct, frozen=True):
    """What a client's sessions show; an agent's own tools are left out. `taps` of them saw no request.

    Servers that nobody called come first, then those that took most. `waiting` are the deferred tools that no
    search loaded: they took their names alone. `price` is what a token of input cost on average, US dollars.
    """

    client: str
    sessions: int
    taps: int
    requests: int
    days: tuple[str, ...]
    waiting: int
    price: float | None
    servers: tuple[ServerWaste, ...]


def recent(
    sessions: Iterable[SessionSummary], days: int, now: float, client: str = ""
) -> list[SessionSummary]:
    """Those of clients, or of one, that were active in the last days."""
    after = now - days * _DAY_SECONDS
    return [one for one in sessions if one.agent and one.ended_at >= after and client in ("", one.agent)]


def unused(sessions: Iterable[tuple[SessionSummary, Findings]]) -> tuple[ClientUse, ...]:
    """What each client's model was given and never called, by client."""
    by_client: dict[str, list[tuple[SessionSummary, Findings]]] = {}
    for one in sessions:
        by_client.setdefault(one[0].agent, []).append(one)
    return tuple(_use(client, by_client[client]) for client in sorted(by_client))


def _use(client: str, sessions: Sequence[tuple[SessionSummary, Findings]]) -> ClientUse:
    report = agent_report(found for _, found in sessions)
    tools, paid = tool_uses(report.sessions), report.reported
    price = paid.input_dollars / paid.priced_input if paid.priced_input else None
    others = [use for use in report.servers if not use.is_own]
    servers = [_server(use, tools, price) for use in others if use.given - use.called - _waiting(use)]
    servers.sort(
        key=lambda one: (bool(one.called), -(one.total("tokens") or 0), -(one.total("definition") or 0))
    )
    return ClientUse(
        client,
        len(sessions),
        sum(not found.model_calls for found in report.sessions),
        sum(found.model_calls for found in report.sessions),
        tuple(sorted({f"{datetime.fromtimestamp(one.started_at, UTC):%Y-%m-%d}" for one, _ in sessions})),
        sum(len(_waiting(use)) for use in others),
        price,
        tuple(servers),
    )


def _waiting(use: ServerUse) -> set[str]:
    return use.deferred - use.loaded - use.called


def _server(use: ServerUse, tools: dict[str, ToolUse], price: float | None) -> ServerWaste:
    found = []
    for id_ in use.given - use.called - _waiting(use):
        one = tools[id_]
        sent = one.sent + one.unsized * one.definition
        dollars = sent * price if price is not None and sent else None
        found.append(Waste(id_.partition(":")[2], one.requests, one.definition, sent, dollars))
    found.sort(key=lambda one: (-one.tokens, -one.definition, one.name))
    called = sorted(id_.partition(":")[2] for id_ in use.called)
    return ServerWaste(use.server, tuple(called), tuple(found))
