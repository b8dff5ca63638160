"""A catalog as a client gets it: what its model knows and can find, for terminal, page and programs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any

from msgspec import Struct, to_builtins

from inspector.clients.client import Client, Kind, Topic, real_clients
from inspector.clients.comparison import definition_lines, signed
from inspector.clients.deliver import deliver
from inspector.clients.delivery import Delivery, Listed, Reason, ServerDelivery
from inspector.clients.seen import Cut, SeenTool, kept_of
from inspector.config.configuration import in_words
from inspector.core.number import count, percent
from inspector.core.report import COUNT, NOTHING, Column, Table
from inspector.core.session import ServerState, SessionState
from inspector.core.tool import Tool
from inspector.schema.json_value import compact
from inspector.session.view import SessionView
from inspector.store.saved_call import SavedCall


class SeenServer(Struct, frozen=True):
    """A server as a client's model sees it. `line` is its line in a list of servers."""

    name: str
    instructions: Cut
    tools: int
    line: str = ""


class Paragraph(Struct, frozen=True):
    """A part of the prompt; `cut` is the text of which it shows the beginning, `of` whose it is."""

    text: str
    cut: Cut | None = None
    of: str = ""


class ClientView(Struct, frozen=True, dict=True):
    """A catalog as one client gets it; tokens are counted by Toolsight's tokenizer, not the client's.

    `paragraphs` are  what is known of the text in front of the first message, and `prompt_tokens` counts it;
    the definition of a search tool, which is the client's own, is in neither. `deliveries` are what becomes
    of each server. `problems` are those of the catalog as a whole.
    """

    client: Client
    servers: tuple[SeenServer, ...]
    deliveries: tuple[ServerDelivery, ...]
    paragraphs: tuple[Paragraph, ...]
    prompt_tokens: int
    problems: tuple[str, ...] = ()

    @property
    def prompt(self) -> str:
        """What is known of the text in front of the first message."""
        return _joined(self.client, self.paragraphs)

    @cached_property
    def tools(self) -> tuple[Delivery, ...]:
        """Every tool that is listed, whatever becomes of it."""
        return tuple(tool for server in self.deliveries for tool in server.tools)

    @cached_property
    def offered(self) -> tuple[SeenTool, ...]:
        """The tools that the model can get."""
        return tuple(one.seen for one in self.tools if one.seen is not None and one.reaches)

    @cached_property
    def tokens(self) -> Mapping[str, int]:
        """The tokens of each tool's definition by its id."""
        return {one.id: one.tokens for one in self.tools}

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

    def tool(self, tool_id: str) -> Delivery | None:
        """What becomes of one tool; None if no server lists one of that id."""
        return next((one for one in self.tools if one.id == tool_id), None)


def session_as(session: SessionView, client: Client) -> ClientView:
    """What a client makes of a session's catalog."""
    return view_as(client, listed_in(session), session.accounting.meter.text)


def listed_in(session: SessionView, saved: Iterable[SavedCall] = ()) -> tuple[Listed, ...]:
    """What each server of a session lists, as far as it may be seen; `saved` are calls of tools."""
    results = tuple((call.tool, call.result) for call in saved)
    folders = {spec.name for spec in session.configuration.servers if spec.is_skills}
    tools: dict[str, list[Tool]] = {name: [] for name in session.state.servers if name not in folders}
    for tool in session.catalog.seen:
        tools.setdefault(tool.server, []).append(tool)
    known, none = session.state.servers, ServerState("")
    logs = {spec.name: session.wire(spec.name) for spec in session.configuration.servers if not spec.is_http}
    noise = {name: flaw.first for name, log in logs.items() if log for flaw in log.flaws() if flaw.first}

    def listed(name: str) -> Listed:
        one, printed = known.get(name, none), noise.get(name, "")
        said = one.info.instructions, one.info.protocol, one.info.refuses_older
        kept = one.info.list_kept, one.info.tells_changes
        return Listed(name, tools[name], one.skipped, *said, results, printed, *kept)

    return tuple(map(listed, tools))


def instructions_of(state: SessionState) -> dict[str, str]:
    """Each server's instructions to a model, by its name."""
    return {name: server.info.instructions for name, server in state.servers.items()}


def deliveries_in(
    listed: Sequence[Listed], only: str = "", stopped: Callable[[], bool] = lambda: False
) -> tuple[ServerDelivery, ...]:
    """What becomes of servers, or of one of them, in each known client; nothing of those without tools.

    `stopped` is asked before each client whether the answer is still wanted.
    """
    clients = (client for client in real_clients() if not stopped())
    found = (one for client in clients for one in deliver(client, listed, only))
    return tuple(one for one in found if one.tools)


def view_as(client: Client, listed: Sequence[Listed], count_text: Callable[[str], int]) -> ClientView:
    """What a client makes of what these servers list."""
    client = client.over(sum(len(one.tools) for one in listed))
    deliveries = deliver(client, listed, tokens=lambda seen: count_text(compact(seen.definition)))
    servers = tuple(
        _server(client, one.listed.server, one.listed.instructions, len(one.listed.tools))
        for one in deliveries
        if one.tools and one.is_reached
    )
    seen = [one.seen for server in deliveries for one in server.tools if one.seen and one.reaches]
    paragraphs = tuple(_paragraphs(client, servers, seen))
    prompt = _joined(client, paragraphs)
    size = count_text(prompt) if prompt else 0
    return ClientView(
        client, servers, deliveries, paragraphs, size, tuple(_problems(client, servers, deliveries))
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
        yield Paragraph("\n".join(sorted(seen.name for seen in tools if not seen.bound)))


def _joined(client: Client, paragraphs: Sequence[Paragraph]) -> str:
    between = "\n" if client.listing.before == "servers" else "\n\n"
    return between.join(paragraph.text for paragraph in paragraphs if paragraph.text)


def _within(limit: int, servers: Sequence[SeenServer]) -> Sequence[SeenServer]:
    """The first servers whose lines fit in so many bytes; 0 is no limit."""
    sizes = accumulate(len(server.line.encode("utf-8", "surrogatepass")) + 1 for server in servers)
    fit = sum(not limit or size <= limit for size in sizes)
    return servers[:fit]


def _problems(
    client: Client, servers: Sequence[SeenServer], deliveries: Sequence[ServerDelivery]
) -> Iterator[str]:
    """What goes wrong with the catalog as a whole."""
    if client.listing.before == "servers":
        unlisted = len(servers) - len(_within(client.texts.block, servers))
        if unlisted:
            yield f"{count(unlisted, 'server')} not listed: the list ends after {client.texts.block:,} bytes"
    most, offered = client.listing.most, sum(one.shown for one in deliveries)
    if most and offered > most:
        yield f"{count(offered, 'tool')}, but only {most:,} are allowed"
    yield from (
        f"{one.listed.server}: {one.sentence()}"
        for one in deliveries
        if one.is_short or Kind.UNSURE in {each.kind for each in one.own}
    )


_BEFORE = {
    "definitions": "binds every definition from the start",
    "names": "knows tools by name until it searches",
    "servers": "knows the servers but no tools until it searches",
    "nothing": "knows nothing about these tools until it searches",
}
_PLACES = {"system": "a system message", "user": "the user's turn", "description": "a tool's description"}


def knows(client: Client) -> str:
    """What its model knows of tools before a search, how it calls what it finds, where instructions go."""
    through = f", and calls them through {client.search.through}" if client.search.through else ""
    place = client.listing.place and f"; instructions go into {_PLACES[client.listing.place]}"
    return f"{client.title} {_BEFORE[client.listing.before]}{through}{place}"


def declared(client: Client) -> str:
    """What it declares to servers."""
    return ", ".join(in_words(client.declares)) or "nothing"


NEWS_LOST = "but a new tool does not reach its model in the same session"


def declares(client: Client) -> str:
    """What it declares, and what becomes of the servers' news."""
    follows = "follows" if client.follows_changes else "does not follow"
    lost = f", {NEWS_LOST}" if client.follows_changes and client.news_reach is False else ""
    return f"declares {declared(client)}; {follows} list changes{lost}"


def changes(one: Delivery) -> str:
    """What becomes of a tool, "" if nothing does."""
    told = "; ".join(reason.says for reason in one.reasons)
    return told if one.reaches else f"{one.fate}: {told}"


def catalog_report(view: ClientView, tokenizer: str) -> Iterator[str | Table]:
    """A catalog as a client gets it."""
    client, sure = view.client, view.client.sure
    columns = (
        Column("tool", "id"),
        Column("name in client", lambda one: one.seen.name if one.seen else NOTHING),
        Column("tokens", "tokens", COUNT),
        Column("changes", changes),
    )
    yield Table.of(columns, view.tools)
    yield ""
    yield from known_lines(view)
    yield (
        f"\ntokens counted with {tokenizer}, not the client's tokenizer; names: {sure(Topic.NAMES)}; "
        f"cuts: {sure(Topic.CUTS)}; schemas: {sure(Topic.SCHEMAS)}. "
        f"`toolsight clients {client.name}` lists the sources."
    )


def known_lines(view: ClientView) -> Iterator[str]:
    """What a client's model knows of a catalog before it searches, and what that costs."""
    client, first, whole = view.client, view.before_search, view.definition_tokens
    yield f"{knows(client)} ({client.confidence(Topic.LISTING).told})"
    less = f"   {percent(1 - first / whole)} less" if view.is_deferred and first < whole else ""
    would = f"{count(len(view.offered), 'definition')} would take {whole:,}"
    yield f"{count(first, 'tool token')} in the first call, {would}{less}"
    yield f"{declares(client)} ({client.confidence(Topic.PROTOCOL).told})"
    yield from (f"⚠ {problem}" for problem in view.problems)
    if view.prompt:
        yield "\nin the prompt, as far as known"
    for paragraph in view.paragraphs:
        yield from _marked("|", paragraph.text)
        if (text := paragraph.cut) is not None and text.lost:
            at = f"cut after {text.kept:,} of {count(len(text.text), 'character')}"
            sure, variable = client.confidence(Topic.CUTS).told, client.texts.changed_by
            hint = f"; {variable} changes that" if variable else ""
            yield f"✂ instructions from {paragraph.of}: {at} ({sure}{hint}); never seen:"
            yield from _marked("✂", text.lost)


def delivery_report(client: Client, one: Delivery) -> Iterator[str]:
    """One tool as a client's model gets it, every line with a sign where it is not as declared."""
    seen = one.seen
    yield f"{seen.name if seen else one.tool} ({client.sure(Topic.NAMES)})"
    yield f"{count(one.tokens, 'token')} in {client.title}"
    mark = "⚠" if one.reaches else f"✕ {one.fate}:"
    yield from (f"{mark} {reason.says}{_source(reason)}" for reason in one.reasons)
    if seen is None:
        return
    if seen.description.lost and client.texts.changed_by:
        yield f"{client.texts.changed_by} changes where a description is cut"
    yield "\ndeclared -, sent +"
    yield from signed(definition_lines(seen))


def _source(reason: Reason) -> str:
    """Where in the definition it is, how sure the rule is, and since when."""
    told = (reason.place, reason.confidence.told, reason.fact.date if reason.fact else "")
    return f" ({', '.join(filter(None, told))})"


def _marked(mark: str, text: str) -> Iterator[str]:
    return (f"  {mark} {line}" for line in text.splitlines())


def _cut_json(text: Cut) -> dict[str, str]:
    return {"shown": text.shown, "lost": text.lost}


def delivery_json(one: Delivery) -> dict[str, Any]:
    """One tool as a client's model gets it."""
    seen, told = one.seen, changes(one).removeprefix(f"{one.fate}: ")
    return {
        "tool": one.id,
        "fate": one.fate,
        "name": seen.name if seen else "",
        "refused": "" if one.reaches else told,
        "changes": [reason.says for reason in one.reasons] if one.reaches else [],
        "reasons": [reason_json(reason) for reason in one.reasons],
        "description": _cut_json(seen.description) if seen else None,
        "definition": seen.definition if seen else None,
        "tokens": one.tokens,
    }


def reason_json(reason: Reason) -> dict[str, str]:
    """Why something does not reach a model as it is, with the source of the rule."""
    fact = reason.fact
    source = {"source": fact.source, "date": fact.date, "rule": fact.says} if fact else {}
    said = {"topic": reason.topic, "says": reason.says, "place": reason.place}
    return {**said, "confidence": reason.confidence, "source": "", "date": "", "rule": "", **source}


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
        "tools": [delivery_json(one) for one in view.tools],
        "declares": to_builtins(client.declares),
        "search": to_builtins(client.search),
    }


def confidence_json(client: Client) -> dict[str, str]:
    """How sure the rules of each topic are."""
    return {topic: client.confidence(topic) for topic in Topic}
