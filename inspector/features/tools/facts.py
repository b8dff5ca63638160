"""What is known of servers, tools and of what crossed the wire: facts for people, data for programs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import to_builtins

from inspector.clients.client import Kind
from inspector.clients.delivery import ServerDelivery, Verdict
from inspector.core.events import DefinitionChanged
from inspector.core.number import count, duration, shown_moment
from inspector.core.report import Fact
from inspector.core.server import ServerInfo, ServerPhase, skipped_lines
from inspector.core.session import Binding, ServerState, ToolState
from inspector.core.tool import SKILL, Annotations, Tool, contradiction, definition
from inspector.loop.approval import why_ask
from inspector.mcp.frame import Flaw, Frame
from inspector.session.client_view import reason_json
from inspector.session.setup import exemptions
from inspector.session.view import SessionView

_NAMES = 4
_TRUSTED = "trusted: tools it marks as read-only run without asking (T asks again)"
_NOT_TRUSTED = "not trusted: you are asked even about tools it marks as read-only (T trusts)"


def server_facts(
    server: ServerState,
    changes: Sequence[DefinitionChanged] = (),
    *,
    flaws: Sequence[Flaw] = (),
    held: int = 0,
    trusted: bool = False,
    clients: str = "",
    views: Sequence[str] = (),
) -> Iterator[Fact]:
    """What is known of a server, then what to look at.

    `changes` are the last ones of its tools' definitions, `flaws` what it sent that had to be repaired or
    dropped. `held` counts its tools that are kept as they were while it is away; `trusted` says whether what
    it claims about its tools is believed. `clients` says in which clients it works, `views` names the tools
    for its own view alone.
    """
    yield from failure_facts(server)
    info = server.info
    yield Fact("held", f"{count(held, 'tool')} kept but not offered until it reconnects" if held else "")
    yield Fact("target", server.target)
    yield Fact("identifies as", f"{info.name} {info.version}".strip())
    yield Fact("protocol", info.speaks)
    yield Fact("capabilities", ", ".join(info.capabilities))
    yield Fact("its list", _kept(info, server.tokens))
    if server.phase is ServerPhase.READY:
        yield Fact("declared", f"{', '.join(server.declared) or 'nothing'} (settings: client)")
        yield Fact("its claims", _TRUSTED if trusted else _NOT_TRUSTED)
        yield Fact("changed", _changes(server, changes))
    yield views_fact(views)
    yield from warning_facts(server, flaws)
    yield Fact("clients", clients)


def _kept(info: ServerInfo, size: int) -> str:
    """How long a client may keep the list of tools, and what one that changed costs; "" if not at all."""
    if not info.list_kept:
        return ""
    by = "anybody" if info.list_scope == "public" else "one user"
    return f"may be kept for {duration(info.list_kept)} by {by}; a change sends {count(size, 'token')} anew"


def views_fact(names: Sequence[str]) -> Fact:
    """The tools that no model knows: their server keeps them for its own view (SEP-1865)."""
    return Fact("for its view", f"{', '.join(names)}: you can call it, no model can" if names else "")


def failure_facts(server: ServerState) -> Iterator[Fact]:
    """Why a server is not connected, and what to try."""
    has_failed = server.phase is ServerPhase.FAILED
    if has_failed or server.phase is ServerPhase.STOPPED:
        yield Fact("reason", server.reason if has_failed else "")
        yield Fact("try", (server.hint if has_failed else "") or "r reconnects.")


def warning_facts(server: ServerState, flaws: Iterable[Flaw]) -> Iterator[Fact]:
    """What is not as a person approved it, what was left out of its list, and what was wrong with it."""
    yield from (Fact("changed", one, warns=True) for one in server.news)
    yield from (Fact("skipped", one, warns=True) for one in skipped_lines(server.skipped))
    yield from (Fact("it sent", str(flaw), warns=True) for flaw in flaws)


def _changes(server: ServerState, changes: Sequence[DefinitionChanged]) -> str:
    """How its list differs from the one before, with its date if that is from an earlier session."""
    verdicts = Counter("wording only" if one.verdict == "words" else one.verdict for one in changes)
    parts = [f"+{name}" for name in server.added[:_NAMES]] + [f"-{name}" for name in server.removed[:_NAMES]]
    left = sum(max(len(names) - _NAMES, 0) for names in (server.added, server.removed))
    parts += [f"{left:,} more"] if left else []
    parts += [f"{count(number, 'definition')} {verdict}" for verdict, number in verdicts.items()]
    since = f" since {shown_moment(server.since)} UTC" if server.since else ""
    return f"{', '.join(parts)}{since}" if parts else ""


_NOT_ASKED = "runs without asking: its trusted server says it is read-only"
_CLAIMS = (
    ("read_only", "only reads", "makes changes"),
    ("destructive", "may destroy or overwrite", "does not destroy"),
    ("idempotent", "repeating a call has no further effect", "every call has an effect"),
    ("open_world", "reaches external systems", "does not reach external systems"),
)


def tool_facts(
    tool: Tool,
    state: ToolState | None,
    why: str,
    tags: Mapping[str, str] | None = None,
    exemptions: Mapping[str, str] | None = None,
) -> Iterator[Fact]:
    """What is known of a tool; what its server merely claims is labelled so.

    `why` tells why the user is asked before a call, "" if nobody is: see `why_ask`. `tags` are those of the
    tool, with where they come from, and `exemptions` the patterns that match it, by setting.
    """
    claimed = ", ".join(claims(tool.annotations)) or "nothing about its effects"
    claimed += "   ⚠ contradicted" if contradiction(tool) else ""
    yield Fact("skill", f"its text: {tool.meta[SKILL]}" if tool.is_skill else "")
    yield Fact("server", tool.server)
    yield Fact("name on its server", tool.name)
    yield Fact("name for the model", tool.wire_name)
    yield Fact("title", tool.title)
    yield Fact("its server claims", claimed)
    yield Fact("returns", "structured data, with a schema" if tool.output_schema else "text")
    yield Fact("on a model call", f"you are asked because {why}" if why else _NOT_ASKED)
    yield Fact("tags", ", ".join(f"#{tag} ({origin})" for tag, origin in (tags or {}).items()))
    for path, pattern in (exemptions or {}).items():
        effect = "may repeat calls" if path == "guard.exempt" else "always bound"
        yield Fact(effect, f"{path}: {pattern}")
    if state is not None and state.binding is Binding.HELD:
        yield Fact("held", f"{state.server} is away; {state.held_as} again once it reconnects")
    elif state is not None:
        yield Fact(state.binding.value, state.reason)


def claims(annotations: Annotations) -> tuple[str, ...]:
    """The server's claims in words, without those it does not make."""
    known = ((getattr(annotations, name), yes, no) for name, yes, no in _CLAIMS)
    return tuple(yes if value else no for value, yes, no in known if value is not None)


def frame_time(frame: Frame) -> str:
    """When a frame was seen, to the millisecond, in UTC."""
    return f"{datetime.fromtimestamp(frame.at, UTC):%H:%M:%S.%f}"[:-3]


def verdict_json(one: ServerDelivery) -> dict[str, Any]:
    """Whether a server works in a client."""
    told = {"finding": one.finding, "confidence": one.confidence, "shown": one.shown}
    because = reason_json(one.worst) if one.worst else None
    return {"client": one.client.name, "verdict": one.verdict, **told, "reason": because}


def frame_json(frame: Frame) -> dict[str, Any]:
    """A message, with what it is in words."""
    return {**to_builtins(frame), "what": frame.what, "cut": frame.is_cut}


def tool_json(session: SessionView, tool: Tool) -> dict[str, Any]:
    """A tool with its state, and what is to be known before it is called."""
    return {
        **to_builtins(session.state.tools[tool.id]),
        "description": tool.description,
        "definition": definition(tool),
        "annotations": tool.annotations,
        "tags": session.retrieval.tags.of(tool),
        "contradiction": contradiction(tool),
        "asked": why_ask(tool, session.state),
        "exemptions": exemptions(session.setup, tool.id),
    }


def delivery_lines(found: Iterable[ServerDelivery]) -> Iterator[str]:
    """The verdicts on servers, the worst first: a line for all clients and servers with the same reason.

    On a single server it is for all clients with the same finding, numbers and all. Clients of which too
    little is known come last, in one line: why is a fact of theirs and none of the server's.
    """
    every = list(found)
    number = len({one.listed.server for one in every})
    groups: dict[tuple[Verdict, str, tuple[str, ...]], list[ServerDelivery]] = {}
    for kind in sorted(Verdict, key=Verdict.UNKNOWN.__eq__):
        reasons: dict[tuple[str, str], dict[str, ServerDelivery]] = {}
        for one in every:
            if one.verdict is kind:
                reasons.setdefault((one.client.name, _shared(one)), {})[one.listed.server] = one
        for (_client, reason), servers in reasons.items():
            first = next(iter(servers.values()))
            told = first.finding if len(servers) == 1 else reason
            told = _TOO_LITTLE if kind is Verdict.UNKNOWN else told
            groups.setdefault((kind, told, tuple(servers)), []).append(first)
    for (kind, told, names), same in groups.items():
        where = "" if len(names) == number else f"{_names_of(names)}: "
        yield f"{where}{kind} in {_clients(same)}{_why(told, same, names[0])}"


_TOO_LITTLE = "some of their rules are not known"


def _shared(one: ServerDelivery) -> str:
    """What stands in a server's way, without what is one server's own, such as its numbers."""
    if one.worst is None or one.worst.kind in (Kind.UNKNOWN, Kind.UNREACHED):
        return one.finding
    return str(one.worst.kind)


_MOST_SERVERS = 3


def _names_of(servers: Sequence[str]) -> str:
    named = ", ".join(servers[:_MOST_SERVERS])
    more = len(servers) - _MOST_SERVERS
    return f"{named} and {count(more, 'more server')}" if more > 0 else named


def _clients(found: Sequence[ServerDelivery]) -> str:
    """The clients' names; where something was found, after each that is as sure how sure that is."""
    sure: dict[str, list[str]] = {}
    for one in found:
        is_sure = not one.finding or one.verdict is Verdict.UNKNOWN
        sure.setdefault("" if is_sure else f" ({one.confidence})", []).append(one.client.name)
    return ", ".join(f"{', '.join(names)}{how}" for how, names in sure.items())


def _why(told: str, found: Sequence[ServerDelivery], server: str) -> str:
    """What was found, with an example: clients that share a reason may still differ in its numbers."""
    example = found[0].finding
    if told in (example, _TOO_LITTLE):
        return f": {told}" if told else ""
    is_shared = all(one.finding == example for one in found)
    return f": {told} ({server}{'' if is_shared else f' in {found[0].client.name}'}: {example})"
