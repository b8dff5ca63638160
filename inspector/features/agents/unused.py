"""What a client's model was given and never called, over many sessions, and what that took."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from inspector.core.number import count
from inspector.core.ports import SessionSummary
from inspector.core.report import COUNT, MONEY, NAME, TOKENS, Block, Column, Fact, Facts, Table
from inspector.features.agents.finding import AgentReport, Findings, agent_report, tool_uses
from inspector.features.agents.tool_list import ServerTools, tool_list_rules

DAYS = 30
"""How many days are looked at, if a person does not say so."""
_DAY_SECONDS, _MOST = 86_400, 12


@dataclass(frozen=True, slots=True)
class Waste:
    """Unused tools, or one: tokens of definitions in one request, and in all `requests` that had them.

    What only a tap saw has no request. `dollars` are None if the price of its client's input is not known.
    """

    name: str
    called: int
    unused: int
    requests: int
    definition: int
    tokens: int
    dollars: float | None


@dataclass(frozen=True, slots=True)
class ClientUse:
    """What a client's sessions show; an agent's own tools are left out.

    Servers that nobody called come first, then those that took most. `taps` of the sessions saw no request.
    `waiting` are the deferred tools that no search loaded: they took their names alone.
    """

    client: str
    report: AgentReport
    days: tuple[str, ...]
    taps: int
    waiting: int
    servers: tuple[ServerTools, ...]
    wastes: Mapping[str, Waste]

    @property
    def requests(self) -> int:
        return sum(one.model_calls for one in self.report.sessions)

    @property
    def unused(self) -> tuple[str, ...]:
        """The ids of the unused tools."""
        return tuple(f"{one.server}:{name}" for one in self.servers for name in one.unused)


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
    days = {f"{datetime.fromtimestamp(one.started_at, UTC):%Y-%m-%d}" for one, _ in sessions}
    uses, wastes, servers, waiting = tool_uses(report.sessions), dict[str, Waste](), list[ServerTools](), 0
    paid = report.reported
    price = paid.input_dollars / paid.priced_input if paid.priced_input else None

    def waste(name: str, ids: Iterable[str], called: int = 0) -> Waste:
        used = [uses[id_] for id_ in ids]
        sent = sum(one.sent + one.unsized * one.definition for one in used)
        cost = sent * price if price is not None and sent else None
        most = max((one.requests for one in used), default=0)
        return Waste(name, called, len(used), most, sum(one.definition for one in used), sent, cost)

    for use in report.servers:
        if use.is_own:
            continue
        waits = use.deferred - use.loaded - use.called
        waiting += len(waits)
        idle = sorted(use.given - use.called - waits)
        wastes |= {id_: waste(id_, [id_]) for id_ in idle}
        wastes[use.server] = waste(use.server, idle, len(use.called))
        if idle:
            servers.append(ServerTools(use.server, _names(use.called), _names(idle)))
    servers.sort(
        key=lambda one: (bool(one.called), -wastes[one.server].tokens, -wastes[one.server].definition)
    )
    taps = sum(not found.model_calls for _, found in sessions)
    return ClientUse(client, report, tuple(sorted(days)), taps, waiting, tuple(servers), wastes)


def _names(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(id_.partition(":")[2] for id_ in ids))


_COLUMNS = (
    Column("tokens in a request", lambda one: one.definition or None, TOKENS),
    Column("in all requests", lambda one: one.tokens or None, TOKENS),
    Column("cost", "dollars", MONEY),
)
_SERVERS = (
    Column("server", "name", NAME),
    Column("called", kind=COUNT),
    Column("unused", kind=COUNT),
    *_COLUMNS,
)
_TOOLS = (
    Column("unused tool", "name", NAME),
    Column("requests", lambda one: one.requests or None, COUNT),
    *_COLUMNS,
)


def unused_report(uses: Sequence[ClientUse], days: int) -> Iterator[Block]:
    """What each client was given for nothing, what to keep, and where that is set."""
    if not uses:
        yield f"No session of a client in the last {count(days, 'day')}: import some, or add a tap."
    for use in uses:
        taps = f", {count(use.taps, 'tap')} of them" if use.taps else ""
        seen = f"{count(len(use.report.sessions), 'session')}{taps}, {count(len(use.days), 'day')}"
        told = f"{use.client} ({seen}, {count(use.requests, 'request')})"
        yield f"{told}: {count(len(use.unused), 'tool')} never called"
        if use.unused:
            yield from _client_report(use)
        elif not use.taps:
            yield "Its transcripts may name called tools alone; `toolsight tap add` records all.\n"


def _client_report(use: ClientUse) -> Iterator[Block]:
    dead = [server.server for server in use.servers if not server.called]
    if dead:
        yield f"No tool was called of {', '.join(dead)}: without the whole server most is saved."
    yield Table.of(_SERVERS, [use.wastes[server.server] for server in use.servers])
    partly = [use.wastes[id_] for id_ in use.unused if id_.partition(":")[0] not in dead]
    partly.sort(key=lambda one: (-one.tokens, -one.definition))
    if partly:
        yield ""
        yield Table.of(_TOOLS, partly[:_MOST])
    if len(partly) > _MOST:
        yield f"and {len(partly) - _MOST:,} more; --json has all"
    kept = [Fact(server.server, ", ".join(server.called)) for server in use.servers if server.called]
    if kept:
        yield Facts(tuple(kept), "The shortest lists that keep every call")
    yield "\n".join(_notes(use))
    yield ""


def _notes(use: ClientUse) -> Iterator[str]:
    paid = use.report.reported
    if paid.priced_input:
        price = f"${paid.input_dollars / paid.priced_input * 1e6:,.2f} a million"
        yield f"cost: at what its input cost on average, {price}, cache reads included"
    elif use.requests:
        yield "cost: the price of its model is not known, or no tokens were reported"
    if use.taps:
        yield "A tap sees what is listed, but no request: what only taps saw has no sum."
    if use.waiting:
        yield f"{count(use.waiting, 'deferred tool')} that no search loaded took only their names."
    rule = tool_list_rules().get(use.client)
    if rule is None:
        yield f"No setting of {use.client} that leaves out single tools is known here."
    else:
        later = "left out, too" if rule.kind == "allow" else "given, too"
        yield f"--write sets `{'.'.join(rule.keys)}`. Tools that a server adds later are then {later}."


def unused_json(uses: Sequence[ClientUse], days: int) -> dict[str, Any]:
    """All of it; costs are US dollars, None without a price."""
    return {"days": days, "clients": list(map(_client_json, uses))}


def _client_json(use: ClientUse) -> dict[str, Any]:
    rule = tool_list_rules().get(use.client)
    return {
        "client": use.client,
        "sessions": len(use.report.sessions),
        "taps": use.taps,
        "requests": use.requests,
        "days": use.days,
        "deferred_never_loaded": use.waiting,
        "setting": rule and {"keys": rule.keys, "source": rule.source},
        "servers": [{**asdict(use.wastes[one.server]), "keep": one.called} for one in use.servers],
        "tools": [asdict(use.wastes[id_]) for id_ in use.unused],
    }
