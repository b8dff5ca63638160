"""Whether a server works in a client, in a word: from names, schemas, cuts, instructions and search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from inspector.clients.client import Client, Confidence, Topic
from inspector.clients.seen import MAYBE_NO_TASKS, NO_TASKS, SeenTool, kept_of, refused_for, see_all
from inspector.core.number import count
from inspector.core.text import shortened
from inspector.core.tool import Tool, is_for_apps_alone

# From this revision on, parameters marked so have to be sent as headers, too (SEP-2243).
_HEADERS_SINCE, _HEADER = "2026-07-28", "x-mcp-header"
# What has to be known of a client before it can be said that a server works in it.
_NEEDED = {
    Topic.NAMES: "how it names tools is not known",
    Topic.SCHEMAS: "what it makes of schemas is not known",
    Topic.CUTS: "where it cuts texts is not known",
}


# Characters of a tool's name in a line, and how a change of a schema begins.
_LONGEST, _SCHEMA = 32, "schema: "
# Without these a model can call a tool as well.
_SPARE = frozenset({"title", "$schema", "$id", "$comment"})


class Verdict(StrEnum):
    """What becomes of a server in a client, the worst first."""

    BLOCKED = "blocked"
    DEGRADED = "degraded"
    UNKNOWN = "unknown"
    WORKS = "works"


@dataclass(frozen=True, slots=True)
class ClientVerdict:
    """A verdict with the first finding behind it, and how sure that is; "" where nothing was found.

    `reason` is the finding without what is one server's own, such as its numbers.
    """

    client: Client
    verdict: Verdict
    confidence: Confidence
    finding: str = ""
    reason: str = ""


_Found = tuple[Verdict, Topic, str, str]


def verdict(client: Client, tools: Sequence[Tool], instructions: str) -> ClientVerdict:
    """The verdict on one server's tools and instructions in a client."""
    seen = see_all(client, tools)
    found = next(_findings(client, seen, instructions), None)
    if found is not None:
        kind, topic, text, reason = found
        return ClientVerdict(client, kind, client.confidence(topic), text, reason or text)
    sure = [client.confidence(topic) for topic in (*_NEEDED, Topic.LISTING, Topic.SEARCH)]
    return ClientVerdict(client, Verdict.WORKS, max(sure, key=list(Confidence).index))


def _findings(client: Client, seen: Sequence[SeenTool], instructions: str) -> Iterator[_Found]:
    """What stands in the way of a server, the worst first."""
    if not seen:
        yield Verdict.UNKNOWN, Topic.LISTING, "it has no tools", ""
    shown = [one for one in seen if not is_for_apps_alone(one.tool)]
    refused = [one for one in shown if one.refused]
    if refused:
        kind = Verdict.BLOCKED if len(refused) == len(shown) else Verdict.DEGRADED
        first = refused[0]
        yield (
            kind,
            refused_for(client, first),
            f"{_part(refused, shown, 'tool')} refused, {_name(first.tool.name)}: {first.refused}",
            "tools are refused",
        )
    failing = [one for one in shown if NO_TASKS in one.changes]
    if failing:
        kind = Verdict.BLOCKED if len(failing) == len(shown) else Verdict.DEGRADED
        told = f"{_part(failing, shown, 'tool')} cannot be called, {_name(failing[0].tool.name)}: only a task"
        yield kind, Topic.TASKS, told, "tools that run only as a task cannot be called"
    if 0 < client.listing.most < len(shown):
        most = f"of {count(len(shown), 'tool')} at most {client.listing.most:,} can be on"
        yield Verdict.DEGRADED, Topic.LISTING, most, "not all tools can be on"
    yield from _names(shown)
    yield from _texts(client, shown, instructions)
    losing = [one for one in shown if any(map(_is_loss, one.changes))]
    if losing:
        lost = next(filter(_is_loss, losing[0].changes))
        name = _name(losing[0].tool.name)
        told = f"{_part(losing, shown, 'schema')} changed, {name}: {lost.removeprefix(_SCHEMA)}"
        yield Verdict.DEGRADED, Topic.SCHEMAS, told, "schemas change"
    yield from _unknown(client, seen, shown)


def _names(shown: Sequence[SeenTool]) -> Iterator[_Found]:
    twins = [one for one in shown if any(change.startswith("same name as") for change in one.changes)]
    if twins:
        told = f"{_part(twins, shown, 'name')} equal: {_name(twins[0].name)}"
        yield Verdict.DEGRADED, Topic.NAMES, told, "names are equal"
    short = [one for one in shown if any(change.startswith("name shortened") for change in one.changes)]
    if short:
        told = f"{_part(short, shown, 'name')} shortened: {_name(short[0].name)}"
        yield Verdict.DEGRADED, Topic.NAMES, told, "names are shortened"


def _texts(client: Client, shown: Sequence[SeenTool], instructions: str) -> Iterator[_Found]:
    if instructions and not client.listing.instructions:
        yield Verdict.DEGRADED, Topic.LISTING, "its instructions are not shown", ""
    kept = kept_of(client.texts, instructions)
    if kept.lost:
        told = f"instructions cut after {kept.kept:,} of {len(instructions):,} characters"
        yield Verdict.DEGRADED, Topic.CUTS, told, "instructions are cut"
    short = [one for one in shown if one.description.lost]
    if short:
        told = f"{_part(short, shown, 'description')} cut, {_name(short[0].tool.name)}"
        yield Verdict.DEGRADED, Topic.CUTS, told, "descriptions are cut"


def _unknown(client: Client, seen: Sequence[SeenTool], shown: Sequence[SeenTool]) -> Iterator[_Found]:
    """What a search lacks, what a model should not get, and what nobody says of the client."""
    deferred = client.listing.before != "definitions"
    silent = [one for one in shown if not one.tool.description.strip()]
    if deferred and silent:
        told = f"{_part(silent, shown, 'tool')} without a description to be found by"
        yield Verdict.DEGRADED, Topic.SEARCH, told, "some tools have no description to be found by"
    if (private := len(seen) - len(shown)) and not client.listing.hides_app_tools:
        told = f"the model gets {count(private, 'tool')} for its own view alone"
        yield Verdict.DEGRADED, Topic.LISTING, told, "the model gets tools for a view alone"
    if any(map(_wants_headers, shown)) and not "" < client.protocol < _HEADERS_SINCE:
        told = "whether it sends marked parameters as headers is not known"
        yield Verdict.UNKNOWN, Topic.PROTOCOL, told, ""
    if unsure := [one for one in shown if MAYBE_NO_TASKS in one.changes]:
        told = f"whether it calls {_name(unsure[0].tool.name)} as a task is not known"
        yield Verdict.UNKNOWN, Topic.TASKS, told, ""
    for topic, told in _NEEDED.items():
        if client.confidence(topic) is Confidence.ASSUMED:
            yield Verdict.UNKNOWN, topic, told, ""
    if deferred and client.search.none:
        yield Verdict.UNKNOWN, Topic.SEARCH, "how it finds tools cannot be followed", ""


def _wants_headers(seen: SeenTool) -> bool:
    properties = seen.tool.input_schema.get("properties")
    values: Iterable[object] = properties.values() if isinstance(properties, Mapping) else ()
    return any(isinstance(value, Mapping) and _HEADER in value for value in values)


def _is_loss(change: str) -> bool:
    """Whether a change of a schema takes away what a model needs."""
    removed = change.removeprefix(_SCHEMA).removesuffix(" removed").split(", ")
    return change.startswith(_SCHEMA) and not _SPARE.issuperset(removed)


def _name(name: str) -> str:
    return shortened(name, _LONGEST)


def _part(some: Sequence[SeenTool], all_: Sequence[SeenTool], noun: str) -> str:
    return f"{len(some):,} of {count(len(all_), noun)}"


def verdict_lines(found: Mapping[str, Sequence[ClientVerdict]]) -> Iterator[str]:
    """The verdicts on servers, the worst first: a line for all clients and servers with the same reason.

    On a single server it is for all clients with the same finding, numbers and all.
    """
    groups: dict[tuple[Verdict, str, tuple[str, ...]], list[ClientVerdict]] = {}
    for kind in Verdict:
        reasons: dict[tuple[str, str], dict[str, ClientVerdict]] = {}
        for server, verdicts in found.items():
            for one in verdicts:
                if one.verdict is kind:
                    reasons.setdefault((one.client.name, one.reason), {})[server] = one
        for (_client, reason), servers in reasons.items():
            first = next(iter(servers.values()))
            told = first.finding if len(servers) == 1 else reason
            groups.setdefault((kind, told, tuple(servers)), []).append(first)
    for (kind, told, names), same in groups.items():
        where = "" if len(names) == len(found) else f"{_names_of(names)}: "
        yield f"{where}{kind} in {_clients(same)}{_why(told, same, names[0])}"


_MOST_SERVERS = 3


def _names_of(servers: Sequence[str]) -> str:
    named = ", ".join(servers[:_MOST_SERVERS])
    more = len(servers) - _MOST_SERVERS
    return f"{named} and {count(more, 'more server')}" if more > 0 else named


def _clients(verdicts: Sequence[ClientVerdict]) -> str:
    """The clients' names; where something was found, after each that is as sure how sure that is."""
    sure: dict[str, list[str]] = {}
    for one in verdicts:
        sure.setdefault(f" ({one.confidence})" if one.finding else "", []).append(one.client.name)
    return ", ".join(f"{', '.join(names)}{how}" for how, names in sure.items())


def _why(told: str, verdicts: Sequence[ClientVerdict], server: str) -> str:
    """What was found, with an example: clients that share a reason may still differ in its numbers."""
    example = verdicts[0].finding
    if told == example:
        return f": {told}" if told else ""
    is_shared = all(one.finding == example for one in verdicts)
    return f": {told} ({server}{'' if is_shared else f' in {verdicts[0].client.name}'}: {example})"
