"""`toolsight registry`: what comes in and goes out, what there is, and the nearest to a query."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import to_builtins

from inspector.access.restriction import AccessControl, require_whole
from inspector.cli.composition import make_embedder
from inspector.cli.launch import headless
from inspector.cli.options import (
    ACCESS,
    COMMON,
    DATABASE,
    SET,
    CommandGroup,
    Options,
    as_json,
    session_command,
)
from inspector.cli.run import Exit, run
from inspector.cli.table import Progress, cancellation, is_json, say, say_raw, show
from inspector.config.setting import anchored, with_values
from inspector.core.access import Sight
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.number import count, shown_moment
from inspector.core.ports import SystemClock
from inspector.core.report import COUNT, Column, Table
from inspector.core.settings import AccessSettings, DiscoverySettings, FederationSettings, Settings
from inspector.features.registry.acceptance import NAME_HINT, RegisteredTool, SyncReport, name_problem
from inspector.features.registry.export import export_lines, is_export, read_export, write_export
from inspector.features.registry.facts import (
    NOTHING_SEEN,
    Health,
    embedded_text,
    found_table,
    history,
    report_text,
    tool_json,
    tool_table,
)
from inspector.features.registry.federation import Federated, open_members, search_all
from inspector.features.registry.library import (
    FILL,
    Overview,
    RegistryLibrary,
    Synchronised,
    nearest_in,
    synchronise,
)
from inspector.features.registry.source import open_health, open_registry
from inspector.features.registry.tool_registry import ToolRegistry
from inspector.mcp.recorded_link import read_definitions

_MODEL = "discovery.embedding_model"
_SYNCHRONISED = (
    Column("server"),
    Column("new", "report.added", COUNT),
    Column("changed", "report.changed", COUNT),
    Column("unchanged", "report.unchanged", COUNT),
    Column("removed", "report.removed", COUNT),
    Column("left out", "why"),
)


REGISTRY_OPTIONS = (DATABASE, SET, *ACCESS)
"""The common options of every command of the registry."""


def library_of(options: Options) -> RegistryLibrary:
    """The registry as a person sees it, with the embedding model of the options. Raises ConfigError."""
    model = str(options.settings.get(_MODEL, DiscoverySettings().embedding_model))
    sight, registry = sight_of(options), open_registry(options)
    return RegistryLibrary(
        lambda: registry, lambda: make_embedder(model), lambda: sight, open_health(options)
    )


def sight_of(options: Options) -> Sight:
    """What the person may see. Raises ConfigError for a policy that cannot be read, or an unknown name."""
    policy, user, expert = (
        str(options.settings.get(f"access.{name}", "")) for name in ("policy", "user", "expert")
    )
    given = AccessSettings(policy=policy, user=user, expert=expert)
    control = AccessControl(given)
    if not control.is_administrator and not control.user:
        say("the policy needs a user: nothing is visible without --user", err=True)
    return control.sight


_File = click.Path(path_type=Path)


@session_command("import", takes=COMMON)
@click.argument("files", nargs=-1, type=_File, metavar="[FILE]...")
@as_json
def import_tools(files: tuple[Path, ...], chosen: Options) -> None:
    """Import tools from files or servers.

    FILE is a registry export, imported with its versions, origins and times, or a stored tools/list answer,
    or definitions as JSON Lines. The last two replace everything from the same origin: tools they do not list
    are marked as gone. A single invalid line rejects the whole file. Without FILE, connects to the servers
    that the common options select.

    \b
    toolsight registry import --config .mcp.json
    """
    library = library_of(chosen)
    require_whole(library.sight(), FILL)
    kept = library.opened()
    is_complete, is_new = _import_files(kept, files) if files else _import_servers(kept, chosen)
    if is_new and library.embedder() is not None:
        _embed_the_rest(library)
    if not is_complete:
        sys.exit(Exit.FAILED)


def _import_files(kept: ToolRegistry, files: Sequence[Path]) -> tuple[bool, bool]:
    """Keep the tools of files; whether all of them, and whether any, could be read."""
    reports = {}
    for file in files:
        try:
            reports[file] = _imported(kept, file)
        except ConfigError as error:
            say(f"error: {error.message}\nhint:  {error.hint}", err=True)
    show(
        [{"file": str(file), **to_builtins(report)} for file, report in reports.items()],
        (f"{file}: {report_text(report)}" for file, report in reports.items()),
    )
    return len(reports) == len(files), bool(reports)


def _import_servers(kept: ToolRegistry, options: Options) -> tuple[bool, bool]:
    """Keep the tools of connected servers: new, changed and gone ones by the hash of a definition."""

    async def work() -> tuple[Synchronised, ...]:
        async with headless(options, listing=True) as bench:
            return synchronise(kept, bench, at=SystemClock().now())

    done = run(work())
    show([to_builtins(one) for one in done], [Table.of(_SYNCHRONISED, done)])
    return all(one.report for one in done), True


def _imported(kept: ToolRegistry, file: Path) -> SyncReport:
    if is_export(file):
        return kept.restore(read_export(file))
    tools = read_definitions([file])
    if problem := next(filter(None, (name_problem(tool, file.name) for tool in tools)), ""):
        raise ConfigError(f"{file}: {problem}", hint=NAME_HINT)
    return kept.sync(file.name, tools, at=SystemClock().now())


@session_command(takes=REGISTRY_OPTIONS)
@click.argument("file", type=_File)
def export(file: Path, chosen: Options) -> None:
    """Write every version of every tool to FILE.

    Use - for standard output. `registry import` reads the file back.

    \b
    toolsight registry export tools.jsonl
    """
    versions = open_registry(chosen).history(sight_of(chosen))
    if str(file) == "-":
        for line in export_lines(versions):
            say_raw(f"{line}\n")
        return
    say(f"{file}: {count(write_export(file, versions), 'version')}")


def _embed_all(library: RegistryLibrary) -> None:
    """Embed the tools that have no vector yet; Ctrl+C stops after a batch, and what is done stays."""
    done, is_complete = _embed(library)
    data = {"model": library.required_embedder().name, "embedded": done, "complete": is_complete}
    show(data, [f"{count(done, 'text')} embedded"])
    if not is_complete:
        say("cancelled: run the same command to continue", err=True)
        sys.exit(Exit.INTERRUPTED)


def _embed_the_rest(library: RegistryLibrary) -> None:
    """Embed what is new; a failure is reported and loses nothing already stored."""
    try:
        done, is_complete = _embed(library)
    except ToolsightError as error:
        say(f"not embedded: {error.message}\nhint:  {error.hint}", err=True)
        return
    if not is_complete:
        say(f"{count(done, 'text')} embedded; continue with `toolsight registry --embed`", err=True)


def _embed(library: RegistryLibrary) -> tuple[int, bool]:
    """How many texts were embedded, and whether nothing is missing."""
    with Progress() as progress, cancellation() as stopped:
        return library.embed(progress, stopped), not stopped()


_EMPTY = (
    "The registry is empty. Import the tools of servers with `toolsight registry import --config FILE`, or a "
    "stored tools/list answer or an export with `toolsight registry import FILE`."
)


@click.group(cls=CommandGroup, invoke_without_command=True, takes=REGISTRY_OPTIONS)
@click.option("--embed", "embeds", is_flag=True, help="Embed the tools that have no vector yet.")
@as_json
@click.pass_context
def registry(context: click.Context, /, embeds: bool, chosen: Options) -> None:
    """Store tools with their versions and search by meaning.

    Their servers do not have to be connected. The registry is stored in the SQLite file with the sessions, or
    in PostgreSQL if TOOLSIGHT_DATABASE_URL is set.

    \b
    toolsight registry import --config .mcp.json
    toolsight registry search "late orders"
    """
    if context.invoked_subcommand is not None:
        return
    library = library_of(chosen)
    if embeds:
        _embed_all(library)
    else:
        known = library.overview()
        show({"tools": known.tools, **to_builtins(known)}, _status(known, whole=library.sight().is_whole))


def _status(known: Overview, *, whole: bool) -> Iterator[str | Table]:
    """How many tools there are, of which origins, and how many are embedded."""
    if not known.tools:
        yield _EMPTY if whole else NOTHING_SEEN
        return
    rows = tuple((origin, f"{number:,}") for origin, number in known.origins.items())
    yield Table("", ("origin", "tools"), rows, frozenset({1}))
    share = embedded_text(known.embedded, known.tools)
    yield f"{count(known.tools, 'tool')} from {count(len(known.origins), 'origin')}, {share}"
    if known.embedded < known.tools and whole:
        yield "Searches find only embedded tools. Embed the rest with `toolsight registry --embed`."


def _search_federation(options: Options, query: str, limit: int) -> None:
    """Print what a search of one's own registry and of other people's finds, and what each peer answered."""
    members, library = open_members(_settings(options)), library_of(options)
    embedder, sight = library.required_embedder(), library.sight()
    embedder.prepare(lambda _done, _total: None, lambda: False)
    done = search_all(
        lambda asked: nearest_in(library.opened(), asked.model, asked.vector, limit, sight),
        members,
        embedder,
        query,
        limit,
    )
    health = library.health()
    found = [
        {"registry": one.peer, "similarity": one.neighbour.similarity}
        | tool_json(one.neighbour.found, None if one.peer else health)
        for one in done.found
    ]
    show({"found": found, "peers": [to_builtins(one) for one in done.answers]}, _federated(done))


def _settings(options: Options) -> FederationSettings:
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    settings = with_values(Settings(), values).federation
    if not settings.peers:
        hint = "Choose a file with --set federation.peers=peers.yaml. docs/papers/registry.md has its format."
        raise ConfigError("no peers are configured", hint=hint)
    return settings


def _federated(done: Federated) -> Iterator[str | Table]:
    yield found_table([(one.peer, one.neighbour) for one in done.found], federated=True)
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
    found = library.rows(tool_id, limit)
    if tool_id and not found.total:
        hint = "`toolsight registry show` lists them."
        raise ConfigError(f"the registry has no tool '{tool_id}'", hint=hint)
    left = f", of which --limit shows {limit:,}" if found.total > limit else ""
    data = [tool_json(one, health) for one in found.tools]
    show(data, [tool_table(found.tools, health), f"{count(found.total, 'tool')}{left}"])


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
@click.option("--federated", is_flag=True, help="Also search the registries in `federation.peers`.")
@as_json
def search(query: str, limit: int, *, federated: bool, chosen: Options) -> None:
    """Find the tools closest in meaning to QUERY.

    \b
    toolsight registry search "late orders" --limit 5
    """
    if federated:
        _search_federation(chosen, query, limit)
        return
    library = library_of(chosen)
    found = library.search(query, limit)
    known, health = library.overview(), library.health()
    data = [{"similarity": one.similarity, **tool_json(one.found, health)} for one in found]
    table = found_table([("", one) for one in found], federated=False)
    show(data, [table, f"{count(len(found), 'tool')} out of {known.embedded:,}"])
    if (missing := known.tools - known.embedded) and not is_json():
        how = ": `toolsight registry --embed`" if library.sight().is_whole else ""
        say(f"{count(missing, 'tool is', 'tools are')} not embedded{how}", err=True)
