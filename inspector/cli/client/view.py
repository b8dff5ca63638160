"""A catalog as a real client gets it, printed."""

from dataclasses import asdict
from typing import Any

from inspector.cli.client.option import how_sure
from inspector.cli.table import say, say_json, say_table
from inspector.clients.client import Client, Topic
from inspector.clients.seen import Cut, SeenTool
from inspector.config.configuration import in_words
from inspector.core.number import count
from inspector.schema.json_value import JsonObject
from inspector.session.client_view import ClientView, SeenServer, session_as
from inspector.session.workbench import Workbench

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
