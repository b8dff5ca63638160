"""`toolsight clients`, and `--client`: what is known of real clients, and tools as they get them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import click

from inspector.cli.options import Options, as_json, options
from inspector.cli.table import say, say_json, say_table
from inspector.clients.client import NAMES, Client, Confidence, Fact, Topic, all_clients, find_client
from inspector.clients.seen import Cut, SeenTool, as_sent, see
from inspector.config.configuration import in_words, setting_values
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject
from inspector.session.client_view import ClientView, SeenServer, session_as
from inspector.session.workbench import Workbench


def _client(_context: click.Context, _parameter: click.Parameter, name: str) -> Client | None:
    return find_client(name) if name else None


def _clients(
    _context: click.Context, _parameter: click.Parameter, names: tuple[str, ...]
) -> tuple[Client, ...]:
    return tuple(map(find_client, dict.fromkeys(names)))


_CHOICE = f"one of {', '.join(NAMES)}"
as_client = click.option(
    "--client",
    "client",
    default="",
    metavar="CLIENT",
    callback=_client,
    help=f"Behave like this client: {_CHOICE}; see `toolsight clients`.",
)
as_clients = click.option(
    "--client",
    "clients",
    multiple=True,
    metavar="CLIENT",
    callback=_clients,
    help="Behave like this client; see `toolsight clients`. Repeat to compare clients.",
)


def client_ranker(client: Client) -> str:
    """The ranker that follows a client's rule. Raises ConfigError if it has none, with the reason."""
    if not client.search.ranker:
        hint = "`toolsight clients` lists the clients whose search rule is known."
        raise ConfigError(f"cannot search as {client.title}: {client.search.none}", hint=hint)
    return client.search.ranker


def require_searches(clients: Sequence[Client]) -> None:
    """Raises ConfigError for a client that has no search to follow: before anything is started."""
    for client in clients:
        client_ranker(client)


async def search_as(
    bench: Workbench, client: Client, tool: Tool | None = None, *, quiet: bool = False
) -> None:
    """Search as the client from now on: its ranker, as many results, over what its model can get.

    It prints by whose rule is searched, and how sure that rule is, unless it is `quiet`. Raises ConfigError,
    also if the client refuses the `tool` that is looked for.
    """
    if tool is not None:
        require_offered(client, tool)
    bench.change_setting("discovery.ranker", client_ranker(client))
    bench.change_setting("discovery.max_search_results", client.search.results)
    index = bench.retrieval.index
    bench.retrieval.update(as_sent(client, index.tools), index.summaries, index.instructions)
    await bench.retrieval.settled()
    if not quiet:
        say_search_as(client)


def options_as(client: Client | None, **values: Any) -> Options:
    """A command's shared options; servers get what the client declares, unless `--set` says otherwise."""
    chosen = options(**values)
    if client is None:
        return chosen
    return replace(chosen, implied=setting_values(client.declares))


def how_sure(client: Client, topic: Topic) -> str:
    """How sure the rules of a topic are, for people."""
    confidence = client.confidence(topic)
    sure = confidence in (Confidence.DOCUMENTED, Confidence.OPEN_SOURCE)
    return f"{confidence}" if sure else f"{confidence}, unverified"


def say_search_as(client: Client, *, err: bool = False) -> None:
    """Print by whose rule was searched, and how sure that rule is."""
    sure = how_sure(client, Topic.SEARCH)
    rule = f"{client.search.ranker}, {client.search.results} results ({sure})"
    say(f"searching as {client.title}: {rule}", err=err)


def require_offered(client: Client, tool: Tool) -> None:
    """Raises ConfigError if the client's model never gets a tool, with the reason."""
    refused = see(client, tool).refused
    if refused:
        hint = f"See what it gets with `toolsight tools {tool.id} --client {client.name}`."
        raise ConfigError(f"{client.title} refuses {tool.id}: {refused}", hint=hint)


def search_json(client: Client) -> dict[str, str]:
    """By whose rule was searched, and how sure that rule is, for programs."""
    return {"client": client.name, "confidence": client.confidence(Topic.SEARCH)}


_BEFORE = {
    "definitions": "Every definition is bound from the start",
    "names": "Before a search, the model knows tools by name",
    "servers": "Before a search, the model knows the servers but no tools",
    "nothing": "Before a search, the model knows nothing about these tools",
}


def say_catalog_as(bench: Workbench, client: Client, tool_id: str, *, as_json: bool) -> None:
    """Print the catalog, or one tool of it, as a client gets it. Raises ToolsightError for another id."""
    view = session_as(bench, client)
    if tool_id:
        seen = view.tool(bench.catalog.require(tool_id).id)
        assert seen is not None
        if as_json:
            say_json(_tool_json(view, seen))
        else:
            _say_tool(view, seen)
    elif as_json:
        say_json(_view_json(view))
    else:
        _say_view(view, bench.accounting.meter.tokenizer.label)


def _say_view(view: ClientView, tokenizer: str) -> None:
    client = view.client
    rows = [
        (
            seen.tool.id,
            seen.name,
            f"{view.tokens[seen.tool.id]:,}",
            f"refused: {seen.refused}" if seen.refused else "; ".join(seen.changes),
        )
        for seen in view.tools
    ]
    say_table(("tool", f"name in {client.title}", "tokens", "changes"), rows, right=frozenset({2}))
    say()
    listed = how_sure(client, Topic.LISTING)
    first = count(view.before_search, "token")
    say(f"{_BEFORE[client.listing.before]} ({listed}): {first} for tools in the first call")
    if view.is_deferred:
        say(f"all {count(len(view.offered), 'definition')}: {count(view.definition_tokens, 'token')}")
    if view.prompt:
        say("\nin the prompt, as far as known:")
    for paragraph in view.paragraphs:
        _say_lines("|", paragraph.text)
        if paragraph.cut is not None and paragraph.cut.lost:
            _say_lost(f"the {paragraph.of} instructions", paragraph.cut, how_sure(client, Topic.CUTS))
    for problem in view.problems:
        say(f"⚠ {problem}")
    declares = ", ".join(in_words(client.declares)) or "nothing"
    follows = "followed" if client.follows_changes else "not followed"
    say(f"\ndeclares to servers: {declares}; list changes are {follows} ({how_sure(client, Topic.PROTOCOL)})")
    say(
        f"tokens counted with {tokenizer}, not the client's tokenizer; "
        f"names: {how_sure(client, Topic.NAMES)}; cuts: {how_sure(client, Topic.CUTS)}; "
        f"schemas: {how_sure(client, Topic.SCHEMAS)}. `toolsight clients {client.name}` lists the sources."
    )


def _say_lines(mark: str, text: str) -> None:
    for line in text.splitlines():
        say(f"  {mark} {line}")


def _say_lost(what: str, text: Cut, sure: str) -> None:
    """Print where a text is cut, and what the model does not read of it."""
    whole = count(len(text.text), "character")
    say(f"✂ {what}, cut after {text.kept:,} of {whole} ({sure}); the model never sees:")
    _say_lines("✂", text.lost)


def _say_tool(view: ClientView, seen: SeenTool) -> None:
    client = view.client
    say(f"{seen.tool.id} as {client.title} gets it, {count(view.tokens[seen.tool.id], 'token')}\n")
    say(f"name: {seen.name} ({how_sure(client, Topic.NAMES)})")
    if seen.refused:
        say(f"refused: {seen.refused}")
    for change in seen.changes:
        say(f"- {change}")
    say("description:")
    _say_lines("|", seen.description.shown)
    if seen.description.lost:
        _say_lost("the description", seen.description, how_sure(client, Topic.CUTS))
    say("parameters:")
    say_json(seen.definition["function"]["parameters"])


def _text_json(text: Cut) -> JsonObject:
    return {"shown": text.shown, "lost": text.lost}


def _tool_json(view: ClientView, seen: SeenTool) -> dict[str, Any]:
    return {
        "tool": seen.tool.id,
        "name": seen.name,
        "refused": seen.refused,
        "changes": seen.changes,
        "tokens": view.tokens[seen.tool.id],
        "description": _text_json(seen.description),
        "definition": seen.definition,
    }


def _server_json(server: SeenServer) -> dict[str, Any]:
    return {"server": server.name, "tools": server.tools, "instructions": _text_json(server.instructions)}


def _view_json(view: ClientView) -> dict[str, Any]:
    client = view.client
    return {
        "client": client.name,
        "confidence": {topic: client.confidence(topic) for topic in Topic},
        "before_search": {
            "listed": client.listing.before,
            "prompt": view.prompt,
            "tokens": view.before_search,
        },
        "definition_tokens": view.definition_tokens,
        "problems": view.problems,
        "servers": [_server_json(server) for server in view.servers],
        "tools": [_tool_json(view, seen) for seen in view.tools],
        "declares": asdict(client.declares),
        "search": asdict(client.search),
    }


_INTRO = """\
# Real clients

What Toolsight knows about the clients that `--client` accepts, and how certain it is. Every fact has a
public source and a date: the day it was published or committed if known, otherwise the day it was looked up.
Clients change fast, so check the date first. A rule that Toolsight follows is only as certain as the weakest
fact behind it; remarks support no rule. `toolsight clients --markdown` prints this page from the files in
`inspector/clients/known/`, one per client.
"""


@click.command()
@click.argument("name", default="", metavar="[CLIENT]")
@click.option("--markdown", is_flag=True, help="Print everything as Markdown.")
@as_json
def clients(name: str, *, markdown: bool, as_json: bool) -> None:
    """Show how real MCP clients handle tools, with sources.

    \b
    toolsight clients codex
    """
    chosen = (find_client(name),) if name else all_clients()
    if as_json:
        say_json([{**asdict(one), "confidence": _confidence(one)} for one in chosen])
    elif markdown:
        for line in _page(chosen):
            say(line)
    elif name:
        _say_client(chosen[0])
    else:
        _say_list(chosen)


def _confidence(client: Client) -> dict[str, str]:
    return {topic: client.confidence(topic) for topic in Topic}


def _say_list(chosen: tuple[Client, ...]) -> None:
    rows = [
        (
            one.name,
            one.listing.before,
            one.search.ranker or "–",
            str(one.search.results) if one.search.ranker else "",
            how_sure(one, Topic.SEARCH) if one.search.ranker else one.search.none,
        )
        for one in chosen
    ]
    headers = ("client", "listed first", "searches by", "results", "confidence")
    say_table(headers, rows, right=frozenset({3}), whole=frozenset({0, 2}))
    say("`toolsight clients CLIENT` shows facts, `toolsight tools --client CLIENT` its view of your tools.")


def _say_client(client: Client) -> None:
    say(f"{client.title}: {client.about}")
    for topic in Topic:
        say(f"\n{topic}   {how_sure(client, topic)}")
        for fact in client.facts:
            if fact.topic is topic:
                say(f"  - {fact.says}")
                say(f"    {_behind(fact)}")


def _behind(fact: Fact) -> str:
    """The confidence, the source and the date of a fact."""
    told = [str(fact.confidence) + (", a remark" if fact.remark else "")]
    told += [f"{fact.source} ({fact.dated} {fact.date})"] if fact.source else []
    return "; ".join(told)


def _page(chosen: tuple[Client, ...]) -> Iterator[str]:
    """The facts as Markdown."""
    yield _INTRO
    for client in chosen:
        yield f"## {client.title} (`{client.name}`)\n"
        yield f"{client.about}.\n"
        yield "| topic | what is known | confidence | source |"
        yield "|---|---|---|---|"
        for fact in sorted(client.facts, key=lambda fact: list(Topic).index(fact.topic)):
            source = f"[{fact.dated} {fact.date}]({fact.source})" if fact.source else "–"
            confidence = f"{fact.confidence}{' (remark)' if fact.remark else ''}"
            yield f"| {fact.topic} | {fact.says.replace('|', chr(92) + '|')} | {confidence} | {source} |"
        yield ""
