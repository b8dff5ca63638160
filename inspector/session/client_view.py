"""A catalog as a client gets it: what its model knows before any search, and what a search can find."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from inspector.clients.client import Client, real_clients
from inspector.clients.seen import Cut, SeenTool, kept_of, see_all
from inspector.clients.verdict import ClientVerdict, verdict
from inspector.core.number import count
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
