"""Whether a server works in a client, in a word: from names, schemas, cuts, instructions and search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from inspector.clients.client import Client, Confidence, Topic
from inspector.clients.seen import SeenTool, kept_of, refused_for, see_all
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
    """A verdict with the first finding behind it, and how sure that is; "" where nothing was found."""

    client: Client
    verdict: Verdict
    confidence: Confidence
    finding: str = ""


_Found = tuple[Verdict, Topic, str]


def verdict(client: Client, tools: Sequence[Tool], instructions: str) -> ClientVerdict:
    """The verdict on one server's tools and instructions in a client."""
    seen = see_all(client, tools)
    found = next(_findings(client, seen, instructions), None)
    if found is not None:
        kind, topic, text = found
        return ClientVerdict(client, kind, client.confidence(topic), text)
    sure = [client.confidence(topic) for topic in (*_NEEDED, Topic.LISTING, Topic.SEARCH)]
    return ClientVerdict(client, Verdict.WORKS, max(sure, key=list(Confidence).index))


def _findings(client: Client, seen: Sequence[SeenTool], instructions: str) -> Iterator[_Found]:
    """What stands in the way of a server, the worst first."""
    if not seen:
        yield Verdict.UNKNOWN, Topic.LISTING, "it has no tools"
    shown = [one for one in seen if not is_for_apps_alone(one.tool)]
    refused = [one for one in shown if one.refused]
    if refused:
        kind = Verdict.BLOCKED if len(refused) == len(shown) else Verdict.DEGRADED
        first = refused[0]
        yield (
            kind,
            refused_for(client, first),
            f"{_part(refused, shown, 'tool')} refused, {_name(first.tool.name)}: {first.refused}",
        )
    if 0 < client.listing.most < len(shown):
        most = f"of {count(len(shown), 'tool')} at most {client.listing.most:,} can be on"
        yield Verdict.DEGRADED, Topic.LISTING, most
    yield from _names(shown)
    yield from _texts(client, shown, instructions)
    losing = [one for one in shown if any(map(_is_loss, one.changes))]
    if losing:
        lost = next(filter(_is_loss, losing[0].changes))
        name = _name(losing[0].tool.name)
        told = f"{_part(losing, shown, 'schema')} changed, {name}: {lost.removeprefix(_SCHEMA)}"
        yield Verdict.DEGRADED, Topic.SCHEMAS, told
    yield from _unknown(client, seen, shown)


def _names(shown: Sequence[SeenTool]) -> Iterator[_Found]:
    twins = [one for one in shown if any(change.startswith("same name as") for change in one.changes)]
    if twins:
        yield Verdict.DEGRADED, Topic.NAMES, f"{_part(twins, shown, 'name')} equal: {_name(twins[0].name)}"
    short = [one for one in shown if any(change.startswith("name shortened") for change in one.changes)]
    if short:
        yield (
            Verdict.DEGRADED,
            Topic.NAMES,
            f"{_part(short, shown, 'name')} shortened: {_name(short[0].name)}",
        )


def _texts(client: Client, shown: Sequence[SeenTool], instructions: str) -> Iterator[_Found]:
    if instructions and not client.listing.instructions:
        yield Verdict.DEGRADED, Topic.LISTING, "its instructions are not shown"
    kept = kept_of(client.texts, instructions)
    if kept.lost:
        told = f"instructions cut after {kept.kept:,} of {len(instructions):,} characters"
        yield Verdict.DEGRADED, Topic.CUTS, told
    short = [one for one in shown if one.description.lost]
    if short:
        yield (
            Verdict.DEGRADED,
            Topic.CUTS,
            f"{_part(short, shown, 'description')} cut, {_name(short[0].tool.name)}",
        )


def _unknown(client: Client, seen: Sequence[SeenTool], shown: Sequence[SeenTool]) -> Iterator[_Found]:
    """What a search lacks, what a model should not get, and what nobody says of the client."""
    deferred = client.listing.before != "definitions"
    silent = [one for one in shown if not one.tool.description.strip()]
    if deferred and silent:
        told = f"{_part(silent, shown, 'tool')} without a description to be found by"
        yield Verdict.DEGRADED, Topic.SEARCH, told
    if (private := len(seen) - len(shown)) and not client.listing.hides_app_tools:
        yield (
            Verdict.DEGRADED,
            Topic.LISTING,
            f"the model gets {count(private, 'tool')} for its own view alone",
        )
    if any(map(_wants_headers, shown)) and not "" < client.protocol < _HEADERS_SINCE:
        yield Verdict.UNKNOWN, Topic.PROTOCOL, "whether it sends marked parameters as headers is not known"
    for topic, told in _NEEDED.items():
        if client.confidence(topic) is Confidence.ASSUMED:
            yield Verdict.UNKNOWN, topic, told
    if deferred and client.search.none:
        yield Verdict.UNKNOWN, Topic.SEARCH, "how it finds tools cannot be followed"


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


def verdict_line(verdicts: Sequence[ClientVerdict]) -> str:
    """All verdicts in one line, the worst first; clients with the same finding stand together."""
    groups: dict[tuple[Verdict, str, Confidence | None], list[str]] = {}
    for kind in Verdict:
        for one in verdicts:
            if one.verdict is kind:
                key = (kind, one.finding, one.confidence if one.finding else None)
                groups.setdefault(key, []).append(one.client.name)
    told = []
    for (kind, finding, confidence), names in groups.items():
        why = f" ({finding}; {confidence})" if finding else ""
        told.append(f"{kind} in {', '.join(names)}{why}")
    return " · ".join(told)
