"""What the registry has: its tools, the versions of one, and the nearest to a query, here and elsewhere."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from inspector.cli.configuration import load_policy
from inspector.cli.options import Options, as_json, session_command
from inspector.cli.table import is_json, say, show
from inspector.config.setting import anchored, with_values
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError
from inspector.core.number import count, shown_moment
from inspector.core.report import Table
from inspector.core.settings import FederationSettings, Settings
from inspector.core.text import closest
from inspector.features.registry.command import REGISTRY_OPTIONS, library_of
from inspector.features.registry.facts import Health, found_table, history, tool_json, tool_table
from inspector.features.registry.federation import Federation, Member, load_peers
from inspector.features.registry.library import RegistryLibrary, nearest_in
from inspector.features.registry.source import is_address
from inspector.search.index.ports import Federated, Located, Peer, RegisteredTool

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


def _search_federation(options: Options, query: str, *, limit: int, floor: float) -> None:
    """Print what a search of one's own registry and of other people's finds, and what each peer answered."""
    federation, library = open_federation(_settings(options)), library_of(options)
    embedder, sight = library.required_embedder(), library.sight()
    embedder.prepare(lambda _done, _total: None, lambda: False)
    done = federation.search(
        lambda model, vector: nearest_in(library.opened(), model, vector, limit, sight, floor=floor),
        embedder,
        query,
        limit=limit,
        floor=floor,
    )
    health = library.health()
    found = [
        {"registry": one.peer, "similarity": one.neighbour.similarity}
        | tool_json(one.neighbour.found, None if one.peer else health)
        for one in done.found
    ]
    show({"found": found, "peers": [asdict(one) for one in done.answers]}, _federated(done))


def _settings(options: Options) -> FederationSettings:
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    settings = with_values(Settings(), values).federation
    if not settings.peers:
        hint = "Choose a file with --set federation.peers=peers.yaml. docs/papers/registry.md has its format."
        raise ConfigError("no peers are configured", hint=hint)
    return settings


def _federated(done: Federated) -> Iterator[str | Table]:
    yield found_table(done.found, federated=True)
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
    library = library_of(chosen)
    health = library.health()
    versions = library.versions(tool_id) if tool_id else ()
    if versions:
        show([tool_json(one, health) for one in versions], _versions(versions, health))
        return
    found = library.rows(tool_id, "", limit)
    if tool_id and not found.total:
        raise ConfigError(f"the registry has no tool '{tool_id}'", hint=_nearest(library, tool_id))
    left = f", of which --limit shows {limit:,}" if found.total > limit else ""
    data = [tool_json(one, health) for one in found.tools]
    show(data, [tool_table(found.tools, health), f"{count(found.total, 'tool')}{left}"])


def _nearest(library: RegistryLibrary, tool_id: str) -> str:
    """A hint with the ids that look most like one that is not there."""
    some = library.rows(tool_id.rpartition(":")[2][:3], "", 1000).tools
    near = closest(tool_id, [one.tool.id for one in some])
    return f"Closest: {', '.join(near)}." if near else "`toolsight registry show` lists them."


def _versions(versions: Sequence[RegisteredTool], health: Health | None) -> Iterator[str]:
    newest = versions[0]
    gone = "" if newest.is_there else "   removed from its origin"
    yield f"{newest.tool.id}   {newest.origin}{gone}"
    if health is not None:
        known = health.of(newest.tool.id)
        yield f"health: {known.brief}   {known.told()}".rstrip()
    yield newest.tool.description
    for one, changes in history(versions):
        yield f"\nversion {one.version}   {shown_moment(one.at)}   {one.origin}   {one.hash[:12]}"
        for change in changes or ():
            yield f"  {change.title}"
            yield from (f"    {line}" for line in change.lines)


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
    if federated:
        _search_federation(chosen, query, limit=limit, floor=floor)
        return
    library = library_of(chosen)
    found = library.search(query, limit, floor=floor)
    known, health = library.overview(), library.health()
    data = [{"similarity": one.similarity, **tool_json(one.found, health)} for one in found]
    table = found_table([Located("", one) for one in found], federated=False)
    show(data, [table, f"{count(len(found), 'tool')} out of {known.embedded:,}"])
    if (missing := known.tools - known.embedded) and not is_json():
        how = ": `toolsight registry --embed`" if library.sight().is_whole else ""
        say(f"{count(missing, 'tool is', 'tools are')} not embedded{how}", err=True)
