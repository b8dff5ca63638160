"""What is known of a catalog as a client gets it: for people, and for programs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from inspector.clients.client import Client, Topic
from inspector.clients.seen import Cut, SeenTool
from inspector.config.configuration import in_words
from inspector.core.number import count
from inspector.core.report import COUNT, Column, Table
from inspector.session.client_view import ClientView

_BEFORE = {
    "definitions": "Every definition is bound from the start",
    "names": "Before a search, the model knows tools by name",
    "servers": "Before a search, the model knows the servers but no tools",
    "nothing": "Before a search, the model knows nothing about these tools",
}


def catalog_report(view: ClientView, tokenizer: str) -> Iterator[str | Table]:
    """The tools as a client gets them, what its model knows before a search, and how sure that is."""
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
    listed, first = client.confidence(Topic.LISTING).told, count(view.before_search, "token")
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
    sure = client.confidence(Topic.PROTOCOL).told
    yield f"\ndeclares to servers: {declares}; list changes are {follows} ({sure})"
    sure = "; ".join(
        f"{topic}: {client.confidence(topic).told}" for topic in (Topic.NAMES, Topic.CUTS, Topic.SCHEMAS)
    )
    yield (
        f"tokens counted with {tokenizer}, not the client's tokenizer; {sure}. "
        f"`toolsight clients {client.name}` lists the sources."
    )


def _marked(mark: str, text: str) -> Iterator[str]:
    return (f"  {mark} {line}" for line in text.splitlines())


def _lost(what: str, text: Cut, client: Client) -> Iterator[str]:
    """Where a text is cut, and what the model does not read of it."""
    whole = count(len(text.text), "character")
    sure = client.confidence(Topic.CUTS).told
    variable = client.texts.changed_by
    changed = f"; {variable} changes that" if variable else ""
    yield f"✂ {what}, cut after {text.kept:,} of {whole} ({sure}{changed}); the model never sees:"
    yield from _marked("✂", text.lost)


def seen_report(view: ClientView, seen: SeenTool) -> Iterator[str]:
    """One tool as a client gets it, with what is cut."""
    client = view.client
    yield f"{seen.tool.id} as {client.title} gets it, {count(view.tokens[seen.tool.id], 'token')}\n"
    yield f"name: {seen.name} ({client.confidence(Topic.NAMES).told})"
    if seen.refused:
        yield f"refused: {seen.refused}"
    yield from (f"- {change}" for change in seen.changes)
    yield "description:"
    yield from _marked("|", seen.description.shown)
    if seen.description.lost:
        yield from _lost("the description", seen.description, client)
    yield "parameters:"
    yield json.dumps(seen.definition["function"]["parameters"], indent=2)


def catalog_json(view: ClientView) -> dict[str, Any]:
    """The catalog as a client gets it."""
    client = view.client
    return {
        "client": client.name,
        "confidence": confidence_json(client),
        "before_search": {
            "listed": client.listing.before,
            "prompt": view.prompt,
            "tokens": view.before_search,
        },
        "definition_tokens": view.definition_tokens,
        "problems": view.problems,
        "servers": [
            {"server": one.name, "tools": one.tools, "instructions": _cut_json(one.instructions)}
            for one in view.servers
        ],
        "tools": [seen_json(view, seen) for seen in view.tools],
        "declares": asdict(client.declares),
        "search": search_json(client),
    }


def seen_json(view: ClientView, seen: SeenTool) -> dict[str, Any]:
    """One tool as a client gets it."""
    return {
        "tool": seen.tool.id,
        "name": seen.name,
        "refused": seen.refused,
        "changes": seen.changes,
        "description": _cut_json(seen.description),
        "definition": seen.definition,
        "tokens": view.tokens[seen.tool.id],
    }


def _cut_json(cut: Cut) -> dict[str, str]:
    return {"shown": cut.shown, "lost": cut.lost}


def confidence_json(client: Client) -> dict[str, str]:
    """How sure each topic's rules are."""
    return {topic: client.confidence(topic) for topic in Topic}


def search_json(client: Client) -> dict[str, Any]:
    """By which ranker a client searches and how much that returns, or why it is not followed."""
    return {"ranker": client.search.ranker, "results": client.search.results, "none": client.search.none}
