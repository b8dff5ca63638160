"""The verdicts on servers in lines for a person, with equal ones told together."""

from collections.abc import Iterable, Iterator, Sequence

from inspector.clients.change import Kind
from inspector.clients.delivery import ServerDelivery, Verdict
from inspector.core.number import count


def delivery_lines(found: Iterable[ServerDelivery]) -> Iterator[str]:
    """The verdicts on servers, the worst first: a line for all clients and servers with the same reason.

    On a single server it is for all clients with the same finding, numbers and all.
    """
    every = list(found)
    number = len({one.listed.server for one in every})
    groups: dict[tuple[Verdict, str, tuple[str, ...]], list[ServerDelivery]] = {}
    for kind in Verdict:
        reasons: dict[tuple[str, str], dict[str, ServerDelivery]] = {}
        for one in every:
            if one.verdict is kind:
                reasons.setdefault((one.client.name, _shared(one)), {})[one.listed.server] = one
        for (_client, reason), servers in reasons.items():
            first = next(iter(servers.values()))
            told = first.finding if len(servers) == 1 else reason
            groups.setdefault((kind, told, tuple(servers)), []).append(first)
    for (kind, told, names), same in groups.items():
        where = "" if len(names) == number else f"{_names_of(names)}: "
        yield f"{where}{kind} in {_clients(same)}{_why(told, same, names[0])}"


def _shared(one: ServerDelivery) -> str:
    """What stands in a server's way, without what is one server's own, such as its numbers."""
    if one.worst is None or one.worst.kind in (Kind.UNKNOWN, Kind.UNREACHED):
        return one.finding
    return str(one.worst.kind)


_MOST_SERVERS = 3


def _names_of(servers: Sequence[str]) -> str:
    named = ", ".join(servers[:_MOST_SERVERS])
    more = len(servers) - _MOST_SERVERS
    return f"{named} and {count(more, 'more server')}" if more > 0 else named


def _clients(found: Sequence[ServerDelivery]) -> str:
    """The clients' names; where something was found, after each that is as sure how sure that is."""
    sure: dict[str, list[str]] = {}
    for one in found:
        sure.setdefault(f" ({one.confidence})" if one.finding else "", []).append(one.client.name)
    return ", ".join(f"{', '.join(names)}{how}" for how, names in sure.items())


def _why(told: str, found: Sequence[ServerDelivery], server: str) -> str:
    """What was found, with an example: clients that share a reason may still differ in its numbers."""
    example = found[0].finding
    if told == example:
        return f": {told}" if told else ""
    is_shared = all(one.finding == example for one in found)
    return f": {told} ({server}{'' if is_shared else f' in {found[0].client.name}'}: {example})"
