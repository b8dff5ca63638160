"""What is known of unused tools: for the terminal, the page and programs."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from inspector.core.number import count
from inspector.core.report import COUNT, MONEY, NAME, TOKENS, Block, Column, Fact, Facts, Table
from inspector.features.agents.tool_list import tool_list_rules
from inspector.features.agents.unused import ClientUse

_MOST = 12
_SERVERS = (
    Column("server", kind=NAME),
    Column("called", lambda one: len(one.called), COUNT),
    Column("unused", lambda one: len(one.unused), COUNT),
    Column("tokens in a request", lambda one: one.total("definition") or None, TOKENS),
    Column("in all requests", lambda one: one.total("tokens") or None, TOKENS),
    Column("cost", lambda one: one.total("dollars"), MONEY),
)
_TOOLS = (
    Column("unused tool", lambda pair: f"{pair[0]}:{pair[1].name}", NAME),
    Column("requests", lambda pair: pair[1].requests or None, COUNT),
    Column("tokens in a request", lambda pair: pair[1].definition or None, TOKENS),
    Column("in all requests", lambda pair: pair[1].tokens or None, TOKENS),
    Column("cost", lambda pair: pair[1].dollars, MONEY),
)


def unused_report(uses: Sequence[ClientUse], days: int) -> Iterator[Block]:
    """What each client was given for nothing, what to keep, and where that is set."""
    if not uses:
        yield f"No session of a client in the last {count(days, 'day')}: import some, or add a tap."
    for use in uses:
        taps = f", {count(use.taps, 'tap')} of them" if use.taps else ""
        seen = f"{count(use.sessions, 'session')}{taps}, {count(len(use.days), 'day')}"
        idle = sum(len(server.unused) for server in use.servers)
        yield f"{use.client} ({seen}, {count(use.requests, 'request')}): {count(idle, 'tool')} never called"
        if idle:
            yield from _client_report(use)
        elif not use.taps:
            yield "Its transcripts may name called tools alone; `toolsight tap add` records all.\n"


def _client_report(use: ClientUse) -> Iterator[Block]:
    dead = [server.server for server in use.servers if not server.called]
    if dead:
        yield f"No tool was called of {', '.join(dead)}: without the whole server most is saved."
    yield Table.of(_SERVERS, use.servers)
    alive = [server for server in use.servers if server.called]
    partly = [(server.server, tool) for server in alive for tool in server.unused]
    if partly:
        yield ""
        yield Table.of(_TOOLS, partly[:_MOST])
        yield from [f"and {len(partly) - _MOST:,} more; --json has all"] * (len(partly) > _MOST)
        kept = (Fact(server.server, ", ".join(server.called)) for server in alive)
        yield Facts(tuple(kept), "The shortest lists that keep every call")
    yield "\n".join(_notes(use))
    yield ""


def _notes(use: ClientUse) -> Iterator[str]:
    if use.price is not None:
        yield f"cost: at what its input cost on average, cache reads too: ${use.price * 1e6:,.2f} a million"
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
    """All of it, with what is known of each client's setting; costs are US dollars, None without a price."""
    rules = tool_list_rules()
    setting = {name: {"keys": rule.keys, "source": rule.source} for name, rule in rules.items()}
    return {
        "days": days,
        "clients": [{**to_builtins(use), "setting": setting.get(use.client)} for use in uses],
    }
