"""A catalog as a client gets it: what its model knows and can find, for terminal, page and programs."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import accumulate
from typing import Any

from inspector.clients.client import Client, Topic, real_clients
from inspector.clients.seen import Cut, SeenTool, kept_of, see_all
from inspector.clients.verdict import ClientVerdict, verdict
from inspector.config.configuration import in_words
from inspector.core.number import count, percent
from inspector.core.report import COUNT, Column, Table
from inspector.core.session import SessionState
from inspector.core.tool import Tool
from inspector.schema.json_value import compact
from inspector.session.view import SessionView


@dataclass(frozen=True, slots=True)
class SeenServer:
    """A server as a client's model sees it. `line` is its line in a list of servers."""

    name: str
    instructions: Cut
    tools: int
    line: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A part of the prompt; `cut` is the text of which it shows the beginning, `of` whose it is."""

    text: str
    cut: Cut | None = None
    of: str = ""


@dataclass(frozen=True, slots=True)
class ClientView:
    """A catalog as one client gets it; tokens are counted by Toolsight's tokenizer, not the client's.

    `paragraphs` are  what is known of the text in front of the first message, and `prompt_tokens` counts it;
    the definition of a search tool, which is the client's own, is in neither. `tokens` are those of each
    tool's definition by its id. `problems` are those of the catalog as a whole.
    """

    client: Client
    servers: tuple[SeenServer, ...]
    tools: tuple[SeenTool, ...]
    paragraphs: tuple[Paragraph, ...]
    prompt_tokens: int
    tokens: Mapping[str, int]
    problems: tuple[str, ...] = ()

    @property
    def prompt(self) -> str:
        """What is known of the text in front of the first message."""
        return _joined(self.client, self.paragraphs)

    @property
    def offered(self) -> tuple[SeenTool, ...]:
        """The tools that the model can get."""
        return tuple(tool for tool in self.tools if not tool.refused)

    @property
    def is_deferred(self) -> bool:
        """Whether definitions wait for a search."""
        return self.client.listing.before != "definitions"

    @property
    def definition_tokens(self) -> int:
        """The tokens of all definitions that the model can get."""
        return sum(self.tokens[seen.tool.id] for seen in self.offered)

    @property
    def before_search(self) -> int:
        """The tokens of tools in a first call, before any search."""
        bound = (seen for seen in self.offered if seen.bound or not self.is_deferred)
        return self.prompt_tokens + sum(self.tokens[seen.tool.id] for seen in bound)

    def tool(self, tool_id: str) -> SeenTool | None:
        """What becomes of one tool; None if the catalog has none of that id."""
        return next((seen for seen in self.tools if seen.tool.id == tool_id), None)


def session_as(session: SessionView, client: Client) -> ClientView:
    """What a client makes of a session's catalog."""
    return view_as(
        client, session.catalog.tools, instructions_of(session.state), session.accounting.meter.text
    )


def instructions_of(state: SessionState) -> dict[str, str]:
    """Each server's instructions to a model, by its name."""
    return {name: server.info.instructions for name, server in state.servers.items()}


def verdicts_on(tools: Sequence[Tool], instructions: str) -> tuple[ClientVerdict, ...]:
    """What becomes of a server in each known client; nothing while it lists no tools."""
    return tuple(verdict(client, tools, instructions) for client in real_clients()) if tools else ()


def view_as(
    client: Client, tools: Sequence[Tool], instructions: Mapping[str, str], count_text: Callable[[str], int]
) -> ClientView:
    """What a client makes of these tools and of their servers' instructions, by server."""
    seen = see_all(client, tools)
    numbers = Counter(tool.server for tool in tools)
    servers = tuple(
        _server(client, name, instructions.get(name, ""), number) for name, number in numbers.items()
    )
    paragraphs = tuple(_paragraphs(client, servers, seen))
    prompt = _joined(client, paragraphs)
    return ClientView(
        client,
        servers,
        seen,
        paragraphs,
        count_text(prompt) if prompt else 0,
        {each.tool.id: count_text(compact(each.definition)) for each in seen},
        tuple(_problems(client, servers, seen)),
    )


def _server(client: Client, name: str, instructions: str, tools: int) -> SeenServer:
    if not client.listing.instructions:
        return SeenServer(name, Cut(instructions, 0), tools, f"- {name}")
    kept = kept_of(client.texts, instructions)
    shown = kept.shown.replace("\n", " ").strip()
    return SeenServer(name, kept, tools, f"- {name}: {shown}" if shown else f"- {name}")


def _paragraphs(
    client: Client, servers: Sequence[SeenServer], tools: Sequence[SeenTool]
) -> Iterator[Paragraph]:
    """What is known of the text in front of the first message, without definitions that are bound."""
    before = client.listing.before
    if before == "servers":
        for server in _within(client.texts.block, servers):
            yield Paragraph(server.line, server.instructions, server.name)
    elif before != "nothing":
        for server in servers:
            if server.instructions.shown:
                text = f"# {server.name}\n{server.instructions.shown}"
                yield Paragraph(text, server.instructions, server.name)
    if before == "names":
        yield Paragraph("\n".join(sorted(seen.name for seen in tools if not (seen.refused or seen.bound))))


def _joined(client: Client, paragraphs: Sequence[Paragraph]) -> str:
    between = "\n" if client.listing.before == "servers" else "\n\n"
    return between.join(paragraph.text for paragraph in paragraphs if paragraph.text)


def _within(limit: int, servers: Sequence[SeenServer]) -> Sequence[SeenServer]:
    """The first servers whose lines fit in so many bytes; 0 is no limit."""
    sizes = accumulate(len(server.line.encode("utf-8", "surrogatepass")) + 1 for server in servers)
    fit = sum(not limit or size <= limit for size in sizes)
    return servers[:fit]


def _problems(client: Client, servers: Sequence[SeenServer], tools: Sequence[SeenTool]) -> Iterator[str]:
    """What goes wrong with the catalog as a whole."""
    if client.listing.before == "servers":
        unlisted = len(servers) - len(_within(client.texts.block, servers))
        if unlisted:
            yield f"{count(unlisted, 'server')} not listed: the list ends after {client.texts.block:,} bytes"
    most = client.listing.most
    offered = sum(not seen.refused for seen in tools)
    if most and offered > most:
        yield f"{count(offered, 'tool')}, but only {most:,} are allowed"
    refused = len(tools) - offered
    if refused:
        yield f"{count(refused, 'tool')} refused"


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
