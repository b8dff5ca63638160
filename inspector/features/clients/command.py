"""`toolsight clients`, and `--client`: what is known of real clients, and tools as they get them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import click

from inspector.cli.options import CommandGroup, Options, as_json, options
from inspector.cli.table import is_json, say, say_report, show
from inspector.clients.client import NAMES, Client, Topic, all_clients, find_client
from inspector.clients.seen import Cut, SeenTool, as_sent, see
from inspector.config.configuration import in_words, setting_values
from inspector.core.command_line import command
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.core.ports import SystemClock
from inspector.core.report import COUNT, NAME, NUMBER, Column, Table, selected
from inspector.core.tool import Tool
from inspector.search.ranker.ranker_list import INFO
from inspector.session.client_view import ClientView, session_as
from inspector.session.workbench import Workbench

_CHOICE = f"one of {', '.join(NAMES)}, or a file of `toolsight clients measure CLIENT`"
as_client = click.option(
    "--client",
    "client",
    default="",
    metavar="CLIENT",
    callback=lambda _context, _parameter, name: find_client(name) if name else None,
    help=f"Behave like this client: {_CHOICE}; see `toolsight clients`.",
)
as_clients = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="CLIENT",
    callback=lambda _context, _parameter, names: tuple(map(find_client, dict.fromkeys(names))),
    help="Behave like this client; see `toolsight clients`. Repeat to compare clients.",
)


def client_ranker(client: Client) -> str:
    """The ranker that follows a client's rule. Raises ConfigError if it has none, with the reason."""
    if not client.search.ranker:
        hint = "`toolsight clients` lists the clients whose search rule is known."
        raise ConfigError(f"cannot search as {client.title}: {client.search.none}", hint=hint)
    return client.search.ranker


async def search_as(bench: Workbench, client: Client, tool: Tool | None = None) -> None:
    """Search as the client from now on: its ranker, as many results, over what its model can get.

    It prints by whose rule is searched, and how sure that rule is, but not for programs. Raises ConfigError,
    also if the client refuses the `tool` that is looked for.
    """
    if tool is not None:
        require_offered(client, tool)
    bench.change_setting("discovery.ranker", client_ranker(client))
    bench.change_setting("discovery.max_search_results", client.search.results)
    index = bench.retrieval.index
    bench.retrieval.update(as_sent(client, index.tools), index.summaries, index.instructions)
    await bench.retrieval.settled()
    if not is_json():
        say_search_as(client)


def options_as(client: Client | None, searching: Sequence[Client] = (), **values: Any) -> Options:
    """A command's shared options with what the client declares, unless `--set` says otherwise."""
    return replace(options(**values), implied=implied_by(client, searching))


def implied_by(client: Client | None, searching: Sequence[Client]) -> dict[str, Any]:
    """The settings by path that clients bring: what one declares, and no vectors for searches without."""
    implied = setting_values(client.declares) if client is not None else {}
    if searching and not any(INFO[client_ranker(one)].uses_vectors for one in searching):
        implied["discovery.embedding_model"] = "none"
    return implied


def how_sure(client: Client, topic: Topic) -> str:
    """How sure the rules of a topic are, for people."""
    return client.confidence(topic).told


def say_search_as(client: Client, *, err: bool = False) -> None:
    """Print by whose rule was searched, and how sure that rule is."""
    sure = how_sure(client, Topic.SEARCH)
    rule = f"{client.search.ranker}, {client.search.results} results ({sure})"
    say(f"searching as {client.title}: {rule}", err=err)


def require_offered(client: Client, tool: Tool) -> None:
    """Raises ConfigError if no search of the client finds a tool, with the reason."""
    seen = see(client, tool)
    hint = f"See what it gets with {command('tools', tool.id, '--client', client.name)}."
    if seen.refused:
        raise ConfigError(f"{client.title} refuses {tool.id}: {seen.refused}", hint=hint)
    if seen.bound:
        raise ConfigError(f"{client.title} loads {tool.id} at once and never searches for it", hint=hint)


def search_json(client: Client | None) -> dict[str, Any]:
    """By whose rule was searched, and how sure that rule is, for programs; nothing without a client."""
    if client is None:
        return {}
    return {"as": {"client": client.name, "confidence": client.confidence(Topic.SEARCH)}}


_BEFORE = {
    "definitions": "Every definition is bound from the start",
    "names": "Before a search, the model knows tools by name",
    "servers": "Before a search, the model knows the servers but no tools",
    "nothing": "Before a search, the model knows nothing about these tools",
}
_CUT = "{shown lost}"
_DECLARES = "declares{roots roots_changes forms links sampling tasks name version}"
_SEARCH = "search{ranker results none}"


def show_catalog_as(bench: Workbench, client: Client, tool_id: str) -> None:
    """Print the catalog, or one tool of it, as a client gets it. Raises ToolsightError for another id."""
    view = session_as(bench, client)
    if not tool_id:
        show(_view_json(view), _view(view, bench.accounting.meter.tokenizer.label))
        return
    seen = view.tool(bench.catalog.require(tool_id).id)
    assert seen is not None
    show(_tool_json(view, seen), _tool(view, seen))


def _view(view: ClientView, tokenizer: str) -> Iterator[str | Table]:
    client = view.client
    columns = (
        Column("tool", "tool.id"),
        Column(f"name in {client.title}", "name"),
        Column("tokens", lambda seen: view.tokens[seen.tool.id], COUNT),
        Column(
            "changes", lambda seen: f"refused: {seen.refused}" if seen.refused else "; ".join(seen.changes)
        ),
    )
    yield Table.of(columns, view.tools)
    listed, first = how_sure(client, Topic.LISTING), count(view.before_search, "token")
    yield f"\n{_BEFORE[client.listing.before]} ({listed}): {first} for tools in the first call"
    if view.is_deferred:
        yield f"all {count(len(view.offered), 'definition')}: {count(view.definition_tokens, 'token')}"
    if view.prompt:
        yield "\nin the prompt, as far as known:"
    for paragraph in view.paragraphs:
        yield from _marked("|", paragraph.text)
        if paragraph.cut is not None and paragraph.cut.lost:
            yield from _lost(f"the {paragraph.of} instructions", paragraph.cut, client)
    yield from (f"⚠ {problem}" for problem in view.problems)
    declares = ", ".join(in_words(client.declares)) or "nothing"
    follows = "followed" if client.follows_changes else "not followed"
    sure = how_sure(client, Topic.PROTOCOL)
    yield f"\ndeclares to servers: {declares}; list changes are {follows} ({sure})"
    yield (
        f"tokens counted with {tokenizer}, not the client's tokenizer; "
        f"names: {how_sure(client, Topic.NAMES)}; cuts: {how_sure(client, Topic.CUTS)}; "
        f"schemas: {how_sure(client, Topic.SCHEMAS)}. `toolsight clients {client.name}` lists the sources."
    )


def _marked(mark: str, text: str) -> Iterator[str]:
    return (f"  {mark} {line}" for line in text.splitlines())


def _lost(what: str, text: Cut, client: Client) -> Iterator[str]:
    """Where a text is cut, and what the model does not read of it."""
    whole = count(len(text.text), "character")
    sure = how_sure(client, Topic.CUTS)
    variable = client.texts.changed_by
    changed = f"; {variable} changes that" if variable else ""
    yield f"✂ {what}, cut after {text.kept:,} of {whole} ({sure}{changed}); the model never sees:"
    yield from _marked("✂", text.lost)


def _tool(view: ClientView, seen: SeenTool) -> Iterator[str]:
    client = view.client
    yield f"{seen.tool.id} as {client.title} gets it, {count(view.tokens[seen.tool.id], 'token')}\n"
    yield f"name: {seen.name} ({how_sure(client, Topic.NAMES)})"
    if seen.refused:
        yield f"refused: {seen.refused}"
    yield from (f"- {change}" for change in seen.changes)
    yield "description:"
    yield from _marked("|", seen.description.shown)
    if seen.description.lost:
        yield from _lost("the description", seen.description, client)
    yield "parameters:"
    yield json.dumps(seen.definition["function"]["parameters"], indent=2)


def _tool_json(view: ClientView, seen: SeenTool) -> dict[str, Any]:
    known: dict[str, Any] = selected(seen, f"tool:tool.id name refused changes description{_CUT} definition")
    return known | {"tokens": view.tokens[seen.tool.id]}


def _view_json(view: ClientView) -> dict[str, Any]:
    client = view.client
    servers = f"servers{{server:name tools instructions{_CUT}}}"
    return {
        "client": client.name,
        "confidence": _confidence(client),
        "before_search": selected(view, "listed:client.listing.before prompt tokens:before_search"),
        **selected(view, f"definition_tokens problems {servers}"),
        "tools": [_tool_json(view, seen) for seen in view.tools],
        **selected(client, f"{_DECLARES} {_SEARCH}"),
    }


_INTRO = """\
# Real clients

What Toolsight knows about the clients that `--client` accepts, and how certain it is. Every fact has a
public source and a date: the day it was published or committed if known, otherwise the day it was looked up.
A measured one, of `toolsight clients measure CLIENT`, has the request that shows it.
Clients change fast: `toolsight clients` and the app mark facts older than 60 days as stale. A rule that
Toolsight follows is only as certain as the weakest fact behind it; remarks support no rule. `toolsight
clients --markdown` prints this page from the files in `inspector/clients/known/`, one per client.
"""


class _Clients(CommandGroup):
    """What is no command is the name of a client to show."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.list_commands(ctx):
            return super().resolve_command(ctx, args)
        return "CLIENT", show_client, args


@click.group(cls=_Clients, invoke_without_command=True)
@click.option("--markdown", is_flag=True, help="Print everything as Markdown.")
@as_json
@click.pass_context
def clients(context: click.Context, /, *, markdown: bool) -> None:
    """Show how real MCP clients handle tools, with sources.

    \b
    toolsight clients codex                what is known of it; the file of a measured client as well
    toolsight clients measure claude-code  what yours does
    """
    if context.invoked_subcommand is not None:
        return
    if markdown and not is_json():
        say_report(_page())
    else:
        show(list(map(_client_json, all_clients())), _list())


@click.command()
@click.argument("name", metavar="CLIENT")
@as_json
def show_client(name: str) -> None:
    """Show what is known of one client."""
    client = find_client(name)
    show([_client_json(client)], _client_report(client))


def today() -> date:
    """The day by which a fact is stale."""
    return datetime.fromtimestamp(SystemClock().now(), UTC).date()


def _client_json(client: Client) -> dict[str, Any]:
    facts = [selected(fact, _FACT) | {"stale": fact.is_stale(today())} for fact in client.facts]
    known: dict[str, Any] = selected(client, _CLIENT)
    return known | {"facts": facts, "confidence": _confidence(client)}


_CLIENT = (
    "name title about names{form replaced server_replaced server_lower server_limit limit over} "
    "texts{description bound instructions mark changed_by first_line block} "
    "schemas{top at_top keeps largest} "
    f"listing{{before instructions most always hides_app_tools}} {_SEARCH} {_DECLARES} "
    "follows_changes protocol"
)
_FACT = "topic says confidence source date dated version platform model request remark"
_CLIENTS = (
    Column("client", "name", NAME),
    Column("listed first", "listing.before"),
    Column("searches by", lambda one: one.search.ranker or None, NAME),
    Column("results", lambda one: one.search.results if one.search.ranker else "", NUMBER),
    Column("confidence", lambda one: how_sure(one, Topic.SEARCH) if one.search.ranker else ""),
)


def _confidence(client: Client) -> dict[str, str]:
    return {topic: client.confidence(topic) for topic in Topic}


def _list() -> Iterator[str | Table]:
    stale = Column("stale facts", lambda one: len(one.stale(today())) or "", NUMBER)
    yield Table.of((*_CLIENTS, stale), all_clients())
    yield "`toolsight clients CLIENT` shows facts, `toolsight tools --client CLIENT` its view of your tools."


def _client_report(client: Client) -> Iterator[str]:
    yield f"{client.title}: {client.about}"
    for topic in Topic:
        yield f"\n{topic}   {how_sure(client, topic)}"
        for fact in client.facts:
            if fact.topic is topic:
                yield f"  - {fact.says}"
                yield f"    {'; '.join(filter(None, (fact.evidence(today()), fact.source)))}"


def _page() -> Iterator[str]:
    """The facts as Markdown."""
    yield _INTRO
    for client in all_clients():
        yield f"## {client.title} (`{client.name}`)\n"
        yield f"{client.about}.\n"
        yield "| topic | what is known | confidence | seen with | source |"
        yield "|---|---|---|---|---|"
        for fact in sorted(client.facts, key=lambda fact: list(Topic).index(fact.topic)):
            source = f"{fact.dated} {fact.date}".strip() or "–"
            source = (
                f"[{source}]({fact.source})"
                if fact.source
                else ": ".join(filter(None, (source, fact.request)))
            )
            confidence = f"{fact.confidence}{' (remark)' if fact.remark else ''}"
            says = fact.says.replace("|", r"\|")
            yield f"| {fact.topic} | {says} | {confidence} | {fact.seen_with} | {source} |"
        yield ""
