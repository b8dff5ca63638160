"""What the registry has: its tools, the versions of one, and the nearest to a query, here and elsewhere."""

import os
from collections.abc import Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector.cli.configuration import load_policy
from inspector.cli.options import Options, as_json, session_command
from inspector.cli.table import is_json, say, show
from inspector.config.setting import anchored, with_values
from inspector.core.access import EVERYTHING, Sight
from inspector.core.definition import definition_changes
from inspector.core.error import ConfigError
from inspector.core.number import count, shown_moment
from inspector.core.report import NAME, NUMBER, TIME, TWO, Column, Table, selected
from inspector.core.settings import FederationSettings, Settings
from inspector.core.text import closest, first_sentence, shortened
from inspector.features.registry.command import REGISTRY_OPTIONS, open_health, require_embedder, sight_of
from inspector.features.registry.federation import Federation, Member, load_peers
from inspector.features.registry.health import Health
from inspector.features.registry.library import found_in, nearest_in
from inspector.features.registry.source import is_address, open_registry
from inspector.search.index.ports import Federated, Peer, RegisteredTool, ToolRegistry

if TYPE_CHECKING:
    from inspector.search.index.ports import SearchableRegistry


# How long a search waits for all peers: a person waits with it; later answers are dropped.
_SECONDS = 5.0


def open_federation(settings: FederationSettings) -> Federation:
    """The peers that a file names; none without one. Nothing is opened yet. Raises ConfigError."""
    peers = load_peers(Path(settings.peers), os.environ) if settings.peers else ()
    members = (Member(peer.name, cache(partial(_opened, peer)), partial(_sight, peer)) for peer in peers)
    return Federation(tuple(members), seconds=_SECONDS)


def _opened(peer: Peer) -> "SearchableRegistry":
    if not is_address(peer.database):
        from inspector.features.registry.peer import SqlitePeer

        return SqlitePeer(Path(peer.database), seconds=_SECONDS)
    from inspector.features.registry.postgres import open_peer

    return open_peer(peer.database, seconds=_SECONDS)


def _sight(peer: Peer) -> Sight:
    """What its policy grants us, read for each search: a grant that goes is gone at once."""
    return load_policy(peer.policy).sight(peer.user, peer.expert) if peer.policy else EVERYTHING


_TOOL = (
    "tool{server name description input_schema annotations{read_only destructive idempotent open_world} "
    "output_schema title tags} origin version hash at is_there"
)
_HEALTH = "state calls failed last_call breaker"
_HIT = (
    Column("tool", "found.tool.id", NAME),
    Column("cosine", "similarity", TWO),
    Column("origin", "found.origin"),
    Column("what it does", lambda one: _about(one.found)),
)
_NEIGHBOUR = (
    Column("tool", "neighbour.found.tool.id", NAME),
    Column("cosine", "neighbour.similarity", TWO),
    Column("origin", "neighbour.found.origin"),
    Column("what it does", lambda one: _about(one.neighbour.found)),
)
_LISTED = (
    Column("tool", "tool.id", NAME),
    Column("origin"),
    Column("version", kind=NUMBER),
    Column("since", "at", TIME),
    Column("what it does", lambda one: _about(one)),
)


def _tool_json(found: RegisteredTool, health: Health | None) -> dict[str, Any]:
    """A tool, with its health if that may be known."""
    known = None if health is None else selected(health.of(found.tool.id), _HEALTH)
    return {"id": found.tool.id, **selected(found, _TOOL), "health": known}


def _about(found: RegisteredTool) -> str:
    """What a tool does, on a line."""
    return shortened(first_sentence(found.tool.description), 100)


def _ranked(columns: Sequence[Column], found: Sequence[object]) -> Table:
    """What was found, with its rank before it."""
    ranks = iter(range(1, len(found) + 1))
    return Table.of((Column("#", lambda _one: next(ranks), NUMBER), *columns), found)


def _search_federation(options: Options, query: str, *, limit: int, floor: float) -> None:
    """Print what a search of one's own registry and of other people's finds, and what each peer answered."""
    federation, sight = open_federation(_settings(options)), sight_of(options)
    health = open_health(options)(sight)
    kept, embedder = open_registry(options), require_embedder(options)
    done = federation.search(
        lambda model, vector: nearest_in(kept, model, vector, limit, sight, floor=floor),
        embedder,
        query,
        limit=limit,
        floor=floor,
    )
    found = [
        selected(one, "registry:peer similarity:neighbour.similarity")
        | _tool_json(one.neighbour.found, None if one.peer else health)
        for one in done.found
    ]
    show({"found": found, "peers": selected(done.answers, "peer found refused why")}, _federated(done))


def _settings(options: Options) -> FederationSettings:
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    settings = with_values(Settings(), values).federation
    if not settings.peers:
        hint = "Choose a file with --set federation.peers=peers.yaml. docs/papers/registry.md has its format."
        raise ConfigError("no peers are configured", hint=hint)
    return settings


def _federated(done: Federated) -> Iterator[str | Table]:
    yield _ranked((Column("registry", lambda one: one.peer or "(local)", NAME), *_NEIGHBOUR), done.found)
    own = sum(not one.peer for one in done.found)
    each = [f"{own} from this registry"]
    each += [f"{one.found} from {one.peer}" for one in done.answers if not one.why]
    yield f"{count(len(done.found), 'tool')}: {', '.join(each)}"
    for one in done.answers:
        if one.why:
            say(f"skipped {one.peer}: {one.why}", err=True)
        elif one.refused:
            say(f"{one.peer}: rejected {count(one.refused, 'invalid result')}", err=True)


@session_command("show", takes=REGISTRY_OPTIONS)
@click.argument("tool_id", default="", metavar="[TOOL]")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Maximum number of results."
)
@as_json
def show_tool(tool_id: str, limit: int, chosen: Options) -> None:
    """Show every version of TOOL, or list the tools.

    If no tool has exactly this id, lists those whose id contains TOOL. Without TOOL, lists all of them.

    \b
    toolsight registry show shop:list_orders
    """
    kept, sight = open_registry(chosen), sight_of(chosen)
    health = open_health(chosen)(sight)
    versions = kept.versions(tool_id, sight) if tool_id else ()
    if versions:
        show([_tool_json(one, health) for one in versions], _versions(versions, health))
        return
    total = kept.count(sight, part=tool_id)
    if tool_id and not total:
        raise ConfigError(f"the registry has no tool '{tool_id}'", hint=_nearest(kept, sight, tool_id))
    found = list(kept.tools(sight, part=tool_id, limit=limit))
    lines = [count(total, "tool") + (f", of which --limit shows {limit:,}" if total > limit else "")]
    known = Column("health", lambda one: "" if health is None else health.of(one.tool.id).words)
    columns = (*_LISTED[:-1], known, _LISTED[-1])
    show([_tool_json(one, health) for one in found], [Table.of(columns, found), *lines])


def _nearest(kept: ToolRegistry, sight: Sight, tool_id: str) -> str:
    """A hint with the ids that look most like one that is not there."""
    part = tool_id.rpartition(":")[2][:3]
    near = closest(tool_id, [one.tool.id for one in kept.tools(sight, part=part, limit=1000)])
    return f"Closest: {', '.join(near)}." if near else "`toolsight registry show` lists them."


def _versions(versions: Sequence[RegisteredTool], health: Health | None) -> Iterator[str]:
    newest = versions[0]
    gone = "" if newest.is_there else "   gone: its origin no longer has it"
    yield f"{newest.tool.id}   {newest.origin}{gone}"
    if health is not None:
        yield f"health: {health.of(newest.tool.id).words}"
    yield newest.tool.description
    for newer, older in zip(versions, [*versions[1:], None], strict=True):
        yield f"\nversion {newer.version}   {shown_moment(newer.at)}   {newer.origin}   {newer.hash[:12]}"
        for change in definition_changes(older.tool, newer.tool) if older is not None else ():
            for gone, new in change.lines:
                yield f"  {change.part}"
                yield from (f"    {sign} {text}" for sign, text in (("-", gone), ("+", new)) if text)


@session_command(takes=REGISTRY_OPTIONS)
@click.argument("query")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Maximum number of results."
)
@click.option(
    "--floor", type=click.FloatRange(-1, 1), default=-1.0, help="Minimum cosine of a result. Default: any."
)
@click.option("--federated", is_flag=True, help="Also search the registries in `federation.peers`.")
@as_json
def search(query: str, limit: int, floor: float, *, federated: bool, chosen: Options) -> None:
    """Find the tools closest in meaning to QUERY.

    \b
    toolsight registry search "late orders" --limit 5
    """
    kept, sight, embedder = open_registry(chosen), sight_of(chosen), require_embedder(chosen)
    embedder.prepare(lambda _done, _total: None, lambda: False)
    if federated:
        _search_federation(chosen, query, limit=limit, floor=floor)
        return
    found = found_in(kept, embedder, query, limit=limit, floor=floor, sight=sight)
    total, embedded = kept.count(sight), kept.embedded(embedder.name, sight)
    health = open_health(chosen)(sight)
    data = [{"similarity": one.similarity, **_tool_json(one.found, health)} for one in found]
    show(data, [_ranked(_HIT, found), f"{count(len(found), 'tool')} out of {embedded:,}"])
    if embedded < total and not is_json():
        how = ": `toolsight registry --embed`" if sight.is_whole else ""
        say(f"{count(total - embedded, 'tool is', 'tools are')} not embedded{how}", err=True)
