"""The way of a server's tools from a client's file to its model, step by step, up to the first loss."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from inspector.clients.client import KEEPS_OUT, Client, Kind
from inspector.clients.deliver import deliver
from inspector.clients.delivery import ServerDelivery
from inspector.config import client as clients
from inspector.config.client import CLAUDE_CODE, PROJECT, USER, ClientConfiguration, ClientFile, Unreadable
from inspector.config.client_format import FORMS, load_file
from inspector.config.configuration import Configuration
from inspector.config.file import is_file, read_text
from inspector.config.program import program_of
from inspector.config.text_edit import line_of
from inspector.core.access import ServerRule
from inspector.core.error import Fetched
from inspector.core.number import count, milliseconds
from inspector.core.ranking import SearchRequest
from inspector.core.report import Fact
from inspector.core.server import STDERR_LINES, ServerPhase, ServerSpec, skipped_lines
from inspector.core.session import ServerState
from inspector.core.text import did_you_mean
from inspector.core.tool import Tool
from inspector.schema.json_value import as_object
from inspector.search.index.vocabulary import split_words
from inspector.search.ranker.ranker_list import matching
from inspector.session.client_view import NEWS_LOST, listed_in
from inspector.session.view import SessionView

WORKS, LOOK, LOST = "works", "look", "lost"
_SHAPES = {WORKS: "✓", LOOK: "!", LOST: "✕"}
_Part = ClientConfiguration | Unreadable


class Step(Struct, frozen=True):
    """What was looked at, what it is to the tools behind it, and what was found.

    `cure` says what to change, at the `place` (FILE:LINE).
    """

    name: str
    sign: str
    found: str
    cure: str = ""
    place: str = ""


def until_lost(steps: Iterable[Step]) -> list[Step]:
    """The steps up to the first that loses something: what is behind it may be its consequence."""
    walked: list[Step] = []
    for step in steps:
        walked.append(step)
        if step.sign == LOST:
            break
    return walked


def step_facts(steps: Iterable[Step]) -> Iterator[Fact]:
    """The steps as terminal and page draw them."""
    for one in steps:
        yield Fact(
            f"{_SHAPES[one.sign]} {one.name}", one.found if one.sign == WORKS else f"{one.sign}: {one.found}"
        )
        yield Fact("  change", ": ".join(filter(None, (one.place, one.cure))) if one.cure else "")


def place_in(source: str, *keys: str) -> str:
    """FILE:LINE of a key in a file, behind the keys before it; the file alone if it is not found."""
    if not is_file(Path(source)):
        return ""
    line = line_of(read_text(Path(source), "configuration"), *keys)
    return f"{source}:{line}" if line else source


# From a client's files to the entry.


def files_of(client: Client) -> list[ClientFile]:
    """The files that the client would read here, whether they exist or not."""
    files = clients.client_files(Path.home(), Path.cwd(), sys.platform, os.environ)
    return [one for one in files if client.title.endswith(one.client)]


def in_files(
    client: Client, server: str, files: Sequence[ClientFile]
) -> tuple[Configuration | None, list[Step]]:
    """The configuration that gives a client its server, and the steps up to its entry."""
    there = [one for one in files if clients.is_there(one)]
    read = (clients.read_client_file(one, environment=os.environ, inputs={}) for one in there)
    parts = sorted(chain.from_iterable(read), key=_rank)
    naming = [one for one in parts if isinstance(one, ClientConfiguration) and server in _names(one)]
    if not naming:
        return None, [_nowhere(client, server, files, parts)]
    first, *others = naming
    source = first.configuration.source
    own = (str(Path.cwd()),) if first.scope.startswith(f"{PROJECT} ") else ()
    place = place_in(source, *own, server)
    before = [f"{one.configuration.source} {one.scope}" for one in others]
    told = ", goes before ".join((f"{place} {first.scope}".strip(), *before))
    steps = own_entry(first.configuration, server, client)
    if steps[0].sign == LOST:
        return None, steps
    if (fault := first.faults.get(server)) is not None:
        steps[1] = Step("keys", LOST, fault.message, fault.hint, place)
    for file in there if client.title == CLAUDE_CODE else ():
        steps += _kept_away(file, server, is_shared=first.scope == PROJECT)
    return first.configuration, [replace(steps[0], found=told), *steps[1:]]


def _kept_away(file: ClientFile, server: str, *, is_shared: bool) -> Iterator[Step]:
    """What Claude Code's own file says of a server in this folder: it is off, or waits for approval."""
    own = as_object(as_object(load_file(file.path).get("projects")).get(str(Path.cwd())))
    for key in ("disabledMcpServers", "disabledMcpjsonServers"):
        if server in (own.get(key) or ()):
            yield Step(
                "policy", LOST, f"off here: {key}", "Remove it.", place_in(str(file.path), key, server)
            )
    if is_shared and file.scope == USER and server not in (own.get("enabledMcpjsonServers") or ()):
        yield Step("policy", LOOK, "it waits for approval, if no settings give it", "Run `claude` here.")


def _rank(part: _Part) -> int:
    """What goes before what: the folder's own in the user's file, the folder's file, the user's."""
    order = {f"{PROJECT} {Path.cwd()}": 0, PROJECT: 1, USER: 2}
    return order.get(part.scope, len(order))


def _names(one: ClientConfiguration) -> tuple[str, ...]:
    if one.scope.startswith(f"{PROJECT} ") and _rank(one):
        return ()
    return (*(spec.name for spec in one.configuration.servers), *one.configuration.disabled, *one.faults)


def _nowhere(client: Client, server: str, files: Sequence[ClientFile], parts: Sequence[_Part]) -> Step:
    """No file names the server: one cannot be read, or has another name for it."""
    for one in parts:
        if isinstance(one, Unreadable):
            return Step("file", LOST, one.error.message, one.error.hint, place_in(str(one.path), server))
    known = [name for one in parts if isinstance(one, ClientConfiguration) for name in _names(one)]
    looked = ", ".join(str(one.path) for one in files) or "none is known here; name one with --config"
    told, cure = f"no file of {client.title} names {server}", did_you_mean("Servers", server, known)
    return Step("file", LOST, f"{told}: {looked}", cure)


def own_entry(configuration: Configuration, server: str, client: Client | None = None) -> list[Step]:
    """The steps up to the entry in a file that a person named, or none for a server that was typed."""
    place = place_in(configuration.source, server)
    if server in configuration.disabled:
        return [Step("file", LOST, f"{server} is turned off", "Turn it on.", place)]
    return [Step("file", WORKS, place or "none: it was typed"), key_step(configuration, server, client)]


_QUOTED = re.compile(r"`([\w-]+)")


def key_step(configuration: Configuration, server: str, client: Client | None) -> Step:
    """Whether the client reads every key of the server's entry."""
    form = FORMS.get(client.title) if client is not None else None
    about = [one for one in configuration.problems if one.server == server]
    lost = [one for one in about if form is not None and form.fault in one.text]
    if not about:
        return Step("keys", WORKS, "every key is read" if form is not None else "no key is unknown")
    # The one that says what to write, if any does.
    first = min(lost or about, key=lambda one: "Did you mean" not in one.hint)
    key = _QUOTED.search(first.text)
    place = place_in(configuration.source, server, *(key.groups() if key else ()))
    return Step("keys", LOST if lost else LOOK, "; ".join(one.text for one in about), first.hint, place)


# From the start of the server to the model.


def session_steps(
    session: SessionView, server: str, client: Client | None = None, documents: Sequence[Fetched] = ()
) -> Iterator[Step]:
    """The steps behind the entry: how the server starts, what it lists, what the client makes of that.

    `documents` are those of a sign-in that is wanted, or the card. The session searches as the client does.
    """
    state = session.state.servers[server]
    spec = next(one for one in session.configuration.servers if one.name == server)
    place = place_in(session.configuration.source, server)
    yield _command(spec, state, place)
    if state.phase is not ServerPhase.READY:
        for one in documents:
            at = place if "entry" in one.hint else ""
            yield Step("sign-in", LOST if one.fault else WORKS, str(one), one.hint, at)
        log, tail = session.wire(server), list(filter(str.strip, state.stderr_tail.splitlines()))
        is_heard = log is not None and any(not frame.sent for frame in log.frames())
        name = "sign-in" if state.needs_login else "handshake" if is_heard else "start"
        told = "; stderr: ".join(
            filter(None, (state.reason or state.phase, " / ".join(tail[-STDERR_LINES:])))
        )
        yield Step(name, LOST, told, state.hint, place)
        return
    yield Step("start", WORKS, f"ready after {milliseconds(state.milliseconds)}")
    for one in documents:
        yield Step("card", LOOK if one.fault else WORKS, str(one), one.hint)
    tools = [tool for tool in session.catalog.seen if tool.server == server]
    yield from _listed(state, deliver(client, listed_in(session), server)[0] if client is not None else None)
    if spec.rule == ServerRule():
        told = "no tool is left out" if tools else "the server lists no tool"
        yield Step("policy", WORKS if tools else LOST, told)
    else:
        told = f"its entry gives the model {spec.rule}"
        yield Step("policy", LOOK if tools else LOST, told, "Change that list.", place)
    yield _deferral(session, [tool for tool in tools if tool.id in session.catalog.by_id], client)
    yield _changes(state, client)


def _command(spec: ServerSpec, state: ServerState, place: str) -> Step:
    if spec.lacks:
        return Step("command", LOST, f"needs {spec.lacks}", spec.advice, place)
    if spec.is_http or spec.listing:
        return Step("command", WORKS, f"none: {state.target}")
    if file := (spec.program or program_of(spec, os.environ)).file:
        return Step("command", WORKS, f"{spec.command} is {file}" if file != spec.command else file)
    if state.phase is ServerPhase.READY:
        return Step("command", WORKS, spec.command)
    return Step("command", LOST, state.reason, state.hint, place)


_KINDS = {
    "handshake": (Kind.UNREACHED, Kind.UNSURE),
    "pages": (Kind.PAGE,),
    "schemas": (Kind.LOST, Kind.SCHEMA_REFUSED, Kind.SCHEMA),
    "names": (Kind.NAME_REFUSED, Kind.TWIN, Kind.NAME_CUT),
}
_CURES = {
    "handshake": "Let the server answer `initialize` of older revisions, too.",
    "pages": "List all tools on one page.",
    "schemas": "A check shows a repair.",
    "names": "Rename it in the server.",
}
_LISTED = {"handshake": (), "pages": ("page", "endless"), "schemas": ("tool",), "names": ()}


def _listed(state: ServerState, found: ServerDelivery | None) -> Iterator[Step]:
    """What is lost or changed of the list on its way, by the verdict on the server in the client."""
    every = count(state.tools + sum(one.kind == "tool" for one in state.skipped), "tool")
    for name, kinds in _KINDS.items():
        lost = [one for one in state.skipped if one.kind in _LISTED[name]]
        told = (
            next(((kind, found.by_kind[kind]) for kind in kinds if kind in found.by_kind), None)
            if found
            else None
        )
        if lost:
            yield Step(name, LOST, "; ".join(skipped_lines(lost)))
        elif own := next((one for one in (found.own if found else ()) if one.kind in kinds), None):
            yield Step(name, LOOK, own.says)
        elif told is not None:
            kind, ((one, reason), *_) = told
            where = f" ({reason.place})" if reason.place else ""
            says = f"{len(told[1]):,} of {every}: {kind}; {one.tool}: {reason.says}{where}"
            yield Step(name, LOST if kind in KEEPS_OUT else LOOK, says, _CURES[name])
        else:
            yield Step(
                name, WORKS, f"protocol {state.info.speaks}" if name == "handshake" else f"{every}, none lost"
            )


def _deferral(session: SessionView, tools: Sequence[Tool], client: Client | None) -> Step:
    is_bound = {tool.id for tool in tools} <= {*session.state.bound_ids}
    if client is not None:
        is_bound = client.over(len(session.catalog.by_id)).listing.before == "definitions"
    if is_bound:
        return Step("deferral", WORKS, "every tool is bound at once")
    if client is not None and not client.search.ranker:
        return Step("deferral", LOOK, "the tools wait for a search, which cannot be followed here")

    takes_pattern = client is not None and matching(client.search.ranker, has_vectors=False) == "pattern"

    def is_found(tool: Tool) -> bool:
        asked = SearchRequest(query=(".*" if takes_pattern else " ").join(split_words(tool.name)))
        report = session.retrieval.look(asked, bound=()).report
        return any(hit.tool_id == tool.id and hit.rank <= report.limit for hit in report.hits)

    missed = [tool.name for tool in tools if not is_found(tool)]
    told = f"the tools wait for a search; their own names find {len(tools) - len(missed):,} of {len(tools):,}"
    return Step("deferral", LOOK if missed else WORKS, f"{told}, not {missed[0]}" if missed else told)


def _changes(state: ServerState, client: Client | None) -> Step:
    says = any("listChanged" in one for one in state.info.capabilities if one.startswith("tools"))
    follows = client is None or client.follows_changes
    reaches = follows and (client is None or client.news_reach is not False)
    told = "a changed list is read again" if follows else "the client does not read a changed list again"
    told = f"{told}, {NEWS_LOST}" if follows and not reaches else told
    told = told if says else "the server does not say that its list changes"
    return Step("list_changed", WORKS if reaches or not says else LOOK, told)
