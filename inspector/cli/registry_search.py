"""What the registry has: its tools, the versions of one, and the nearest to a query, here and elsewhere."""

import os
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.cli.configuration import load_policy
from inspector.core.access import EVERYTHING, Sight
from inspector.core.error import ConfigError
from inspector.core.settings import FederationSettings
from inspector.registry.federation import Federation, Member, is_address, load_peers
from inspector.search.ports import Peer

if TYPE_CHECKING:
    from inspector.search.ports import SearchableRegistry
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from inspector.cli.configuration import open_registry
from inspector.cli.options import Options, as_json as json_option
from inspector.cli.registry import chosen, registry_options, require_embedder, sight_of
from inspector.cli.table import say, say_json, say_table
from inspector.config.setting import anchored, with_values
from inspector.core.definition import definition_changes
from inspector.core.number import count, shown_moment
from inspector.core.settings import Settings
from inspector.core.text import closest, first_sentence, shortened
from inspector.search.ports import Federated, RegisteredTool, ToolRegistry
from inspector.search.registry_tier import nearest_in, search_registry


def open_federation(settings: FederationSettings) -> Federation:
    """The peers that a file names; none without one. Nothing is opened yet. Raises ConfigError."""
    if not settings.peers:
        return Federation((), seconds=settings.seconds)
    peers = load_peers(Path(settings.peers), os.environ)
    members = (
        Member(peer.name, cache(partial(_opened, peer, settings.seconds)), partial(_sight, peer))
        for peer in peers
    )
    return Federation(tuple(members), seconds=settings.seconds)


def _opened(peer: Peer, seconds: float) -> "SearchableRegistry":
    if not is_address(peer.database):
        from inspector.registry.peer import SqlitePeer

        return SqlitePeer(Path(peer.database), seconds=seconds)
    try:
        from inspector.registry.postgres import open_peer
    except ImportError as error:
        hint = "Install it with `pip install 'toolsight[postgres]'`."
        raise ConfigError(f"a required package is not installed: {error.name}", hint=hint) from error
    return open_peer(peer.database, seconds=seconds)


def _sight(peer: Peer) -> Sight:
    """What its policy grants us, read for each search: a grant that goes is gone at once."""
    return load_policy(peer.policy).sight(peer.user, peer.expert) if peer.policy else EVERYTHING


# A tool of a registry as the commands write it.

_SAID = 100


def tool_json(found: RegisteredTool) -> dict[str, Any]:
    """A tool for programs."""
    return {"id": found.tool.id, **asdict(found)}


def tool_line(found: RegisteredTool) -> str:
    """What a tool does, on a line."""
    return shortened(first_sentence(found.tool.description), _SAID)


# A search of one's own registry and of other people's, each result with the registry that it is in.

OWN = "(local)"


def search_federation(options: Options, query: str, *, limit: int, floor: float, as_json: bool) -> None:
    """Print what a search of all registries finds, and what each peer answered."""
    federation, sight = open_federation(_settings(options)), sight_of(options)
    kept, embedder = open_registry(options), require_embedder(options)
    done = federation.search(
        lambda model, vector: nearest_in(kept, model, vector, limit, sight, floor=floor),
        embedder,
        query,
        limit=limit,
        floor=floor,
    )
    if as_json:
        found = [
            {
                "registry": one.peer,
                "similarity": one.neighbour.similarity,
                **tool_json(one.neighbour.found),
            }
            for one in done.found
        ]
        say_json({"found": found, "peers": [asdict(one) for one in done.answers]})
        return
    _say(done)


def _settings(options: Options) -> FederationSettings:
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    settings = with_values(Settings(), values).federation
    if not settings.peers:
        hint = "Choose a file with --set federation.peers=peers.yaml. docs/papers/registry.md has its format."
        raise ConfigError("no peers are configured", hint=hint)
    return settings


def _say(done: Federated) -> None:
    rows = [
        (
            f"{rank}",
            one.peer or OWN,
            one.neighbour.found.tool.id,
            f"{one.neighbour.similarity:.2f}",
            one.neighbour.found.origin,
            tool_line(one.neighbour.found),
        )
        for rank, one in enumerate(done.found, 1)
    ]
    headers = ("#", "registry", "tool", "cosine", "origin", "what it does")
    say_table(headers, rows, right=frozenset({0, 3}), whole=frozenset({1, 2}))
    own = sum(not one.peer for one in done.found)
    each = [
        f"{own} from this registry",
        *(f"{one.found} from {one.peer}" for one in done.answers if not one.why),
    ]
    say(f"{count(len(done.found), 'tool')}: {', '.join(each)}")
    for one in done.answers:
        if one.why:
            say(f"skipped {one.peer}: {one.why}", err=True)
        elif one.refused:
            say(f"{one.peer}: rejected {count(one.refused, 'invalid result')}", err=True)


_NEAR = 1000


@click.command()
@click.argument("tool_id", default="", metavar="[TOOL]")
@click.option(
    "--limit", type=click.IntRange(min=1), default=100, show_default=True, help="Maximum number of results."
)
@click.option("--after", default="", metavar="TOOL", help="Start after this tool.")
@registry_options
@json_option
def show(tool_id: str, limit: int, after: str, *, as_json: bool, **values: Any) -> None:
    """Show every version of TOOL, or list the tools.

    If no tool has exactly this id, lists those whose id contains TOOL. Without TOOL, lists all of them.

    \b
    toolsight registry show shop:list_orders
    """
    options = chosen(**values)
    kept, sight = open_registry(options), sight_of(options)
    versions = kept.versions(tool_id, sight) if tool_id else ()
    if versions:
        _say_tool(versions, as_json=as_json)
        return
    total = kept.count(sight, part=tool_id)
    if tool_id and not total:
        raise ConfigError(f"the registry has no tool '{tool_id}'", hint=_nearest(kept, sight, tool_id))
    found = list(kept.tools(sight, part=tool_id, after=after, limit=limit))
    if as_json:
        say_json([tool_json(one) for one in found])
        return
    _say_list(found)
    say(count(total, "tool"))
    if len(found) == limit and total > limit:
        say(f"next page: toolsight registry show {tool_id} --after {found[-1].tool.id}".replace("  ", " "))


def _nearest(kept: ToolRegistry, sight: Sight, tool_id: str) -> str:
    """A hint with the ids that look most like one that is not there."""
    part = tool_id.rpartition(":")[2][:3]
    near = closest(tool_id, [one.tool.id for one in kept.tools(sight, part=part, limit=_NEAR)])
    return f"Closest: {', '.join(near)}." if near else "`toolsight registry show` lists them."


def _say_list(found: Sequence[RegisteredTool]) -> None:
    rows = [
        (one.tool.id, one.origin, f"{one.version}", shown_moment(one.at), tool_line(one)) for one in found
    ]
    headers = ("tool", "origin", "version", "since", "what it does")
    say_table(headers, rows, right=frozenset({2}), whole=frozenset({0, 3}))


def _say_tool(versions: Sequence[RegisteredTool], *, as_json: bool) -> None:
    if as_json:
        say_json([tool_json(one) for one in versions])
        return
    newest = versions[0]
    gone = "" if newest.is_there else "   gone: its origin no longer has it"
    say(f"{newest.tool.id}   {newest.origin}{gone}")
    say(newest.tool.description)
    _say_versions(versions)


def _say_versions(versions: Sequence[RegisteredTool]) -> None:
    for newer, older in zip(versions, [*versions[1:], None], strict=True):
        say(f"\nversion {newer.version}   {shown_moment(newer.at)}   {newer.origin}   {newer.hash[:12]}")
        for change in definition_changes(older.tool, newer.tool) if older is not None else ():
            for gone, new in change.lines:
                say(f"  {change.part}")
                for sign, text in (("-", gone), ("+", new)):
                    if text:
                        say(f"    {sign} {text}")


@click.command()
@click.argument("query")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="Maximum number of results."
)
@click.option(
    "--floor",
    type=click.FloatRange(-1, 1),
    default=-1.0,
    help="Minimum cosine of a result. Default: any.",
)
@click.option("--federated", is_flag=True, help="Also search the registries in `federation.peers`.")
@registry_options
@json_option
def search(query: str, limit: int, floor: float, *, federated: bool, as_json: bool, **values: Any) -> None:
    """Find the tools closest in meaning to QUERY.

    \b
    toolsight registry search "late orders" --limit 5
    """
    options = chosen(**values)
    kept, sight, embedder = open_registry(options), sight_of(options), require_embedder(options)
    embedder.prepare(lambda _done, _total: None, lambda: False)
    if federated:
        search_federation(options, query, limit=limit, floor=floor, as_json=as_json)
        return
    found = search_registry(kept, embedder, query, limit=limit, floor=floor, sight=sight)
    if as_json:
        say_json([{"similarity": one.similarity, **tool_json(one.found)} for one in found])
        return
    rows = [
        (f"{rank}", one.found.tool.id, f"{one.similarity:.2f}", one.found.origin, tool_line(one.found))
        for rank, one in enumerate(found, 1)
    ]
    say_table(
        ("#", "tool", "cosine", "origin", "what it does"), rows, right=frozenset({0, 2}), whole=frozenset({1})
    )
    total, embedded = kept.count(sight), kept.embedded(embedder.name, sight)
    say(f"{count(len(found), 'tool')} out of {embedded:,}")
    if embedded < total:
        say(
            f"{count(total - embedded, 'tool is', 'tools are')} not embedded"
            f"{': `toolsight registry --embed`' if sight.is_whole else ''}",
            err=True,
        )
