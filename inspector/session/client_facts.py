"""What is known of a catalog as a client gets it: for the terminal, the page, and programs."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from inspector.clients.client import Client, Topic
from inspector.clients.seen import Cut, SeenTool
from inspector.config.configuration import in_words
from inspector.core.number import count, percent
from inspector.core.report import COUNT, Column, Table
from inspector.session.client_view import ClientView

_BEFORE = {
    "definitions": "binds every definition from the start",
    "names": "knows tools by name until it searches",
    "servers": "knows the servers but no tools until it searches",
    "nothing": "knows nothing about these tools until it searches",
}
IN_THE_PROMPT = "in the prompt, as far as known"


def knows(client: Client) -> str:
    """What its model knows of tools before any search."""
    return f"{client.title} {_BEFORE[client.listing.before]}"


def first_call(view: ClientView) -> tuple[str, str, str]:
    """What a first call costs, what all definitions would, and how much less that is, "" if it is not."""
    first, whole = view.before_search, view.definition_tokens
    less = f"{percent(1 - first / whole)} less" if view.is_deferred and first < whole else ""
    would = f", {count(len(view.offered), 'definition')} would take {whole:,}"
    return f"{count(first, 'tool token')} in the first call", would, less


def declared(client: Client) -> str:
    """What it declares to servers."""
    return ", ".join(in_words(client.declares)) or "nothing"


def declares(client: Client) -> str:
    """What it declares, and what becomes of the servers' news."""
    follows = "follows" if client.follows_changes else "does not follow"
    return f"declares {declared(client)}; {follows} list changes"


def cut_at(what: str, text: Cut) -> str:
    """Where a text is cut."""
    return f"✂ {what}: cut after {text.kept:,} of {count(len(text.text), 'character')}"


def changes(seen: SeenTool) -> str:
    """What becomes of a tool, "" if nothing does."""
    return f"refused: {seen.refused}" if seen.refused else "; ".join(seen.changes)


def parameters(seen: SeenTool) -> str:
    """Its parameters as the model reads them, indented."""
    return json.dumps(seen.definition["function"]["parameters"], ensure_ascii=False, indent=2)


def catalog_report(view: ClientView, tokenizer: str) -> Iterator[str | Table]:
    """A catalog as a client gets it."""
    client = view.client

    def sure(topic: Topic) -> str:
        return client.confidence(topic).told

    columns = (
        Column("tool", "tool.id"),
        Column("name in client", "name"),
        Column("tokens", lambda seen: view.tokens[seen.tool.id], COUNT),
        Column("changes", changes),
    )
    yield Table.of(columns, view.tools)
    yield f"\n{knows(client)} ({sure(Topic.LISTING)})"
    first, would, less = first_call(view)
    yield f"{first}{would}{f'   {less}' if less else ''}"
    yield f"{declares(client)} ({sure(Topic.PROTOCOL)})"
    yield from (f"⚠ {problem}" for problem in view.problems)
    if view.prompt:
        yield f"\n{IN_THE_PROMPT}"
    for paragraph in view.paragraphs:
        yield from _marked("|", paragraph.text)
        if paragraph.cut is not None and paragraph.cut.lost:
            yield from _lost(f"instructions from {paragraph.of}", paragraph.cut, client)
    yield (
        f"\ntokens counted with {tokenizer}, not the client's tokenizer; names: {sure(Topic.NAMES)}; "
        f"cuts: {sure(Topic.CUTS)}; schemas: {sure(Topic.SCHEMAS)}. "
        f"`toolsight clients {client.name}` lists the sources."
    )


def seen_report(view: ClientView, seen: SeenTool) -> Iterator[str]:
    """One tool as a client's model gets it."""
    client = view.client
    yield f"{seen.name} ({client.confidence(Topic.NAMES).told})"
    yield f"{count(view.tokens[seen.tool.id], 'token')} in {client.title}"
    if seen.refused:
        yield f"✕ refused: {seen.refused}"
    yield from (f"⚠ {change}" for change in seen.changes)
    yield "\ndescription"
    yield from _marked("|", seen.description.shown)
    if seen.description.lost:
        yield from _lost("description", seen.description, client)
    yield f"\nparameters ({client.confidence(Topic.SCHEMAS).told})"
    yield parameters(seen)


def _marked(mark: str, text: str) -> Iterator[str]:
    return (f"  {mark} {line}" for line in text.splitlines())


def _lost(what: str, text: Cut, client: Client) -> Iterator[str]:
    """Where a text is cut, and what the model does not read of it."""
    sure, variable = client.confidence(Topic.CUTS).told, client.texts.changed_by
    yield f"{cut_at(what, text)} ({sure}{f'; {variable} changes that' if variable else ''}); never seen:"
    yield from _marked("✂", text.lost)


def _cut_json(text: Cut) -> dict[str, str]:
    return {"shown": text.shown, "lost": text.lost}


def seen_json(view: ClientView, seen: SeenTool) -> dict[str, Any]:
    """One tool as a client's model gets it."""
    return {
        "tool": seen.tool.id,
        "name": seen.name,
        "refused": seen.refused,
        "changes": seen.changes,
        "description": _cut_json(seen.description),
        "definition": seen.definition,
        "tokens": view.tokens[seen.tool.id],
    }


def catalog_json(view: ClientView) -> dict[str, Any]:
    """A catalog as a client gets it."""
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
        "search": asdict(client.search),
    }


def confidence_json(client: Client) -> dict[str, str]:
    """How sure the rules of each topic are."""
    return {topic: client.confidence(topic) for topic in Topic}
