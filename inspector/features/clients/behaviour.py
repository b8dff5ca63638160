"""What clients do, a behaviour for each question that people ask: for list, matrix and Markdown."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from inspector.clients.client import Client, ClientKind, Confidence, Topic, all_clients
from inspector.core.number import count
from inspector.core.report import NAME, NOTHING, NUMBER, Column, Table
from inspector.session.client_matrix import WAITING
from inspector.session.client_view import ClientView

MARKS = {
    Confidence.MEASURED: "●",
    Confidence.DOCUMENTED: "●",
    Confidence.OPEN_SOURCE: "●",
    Confidence.REPORTED: "◐",
    Confidence.ASSUMED: "○",
}
"""How sure a rule is, in a sign."""
LEGEND = "● measured, documented or open source   ◐ reported   ○ assumed   ? not known"
DECLARED_TOKENS = 1_011
"""Those of the 14 tools whose tokens a client's fidelity has, as their servers declare them."""
COST = (
    "same tools: tokens (o200k) of 14 tools as sent, in the JSON of chat completions; "
    f"{DECLARED_TOKENS:,} as their servers declare them"
)
PLURALS = {
    ClientKind.AGENT: "coding agents",
    ClientKind.FRAMEWORK: "frameworks",
    ClientKind.APP: "editors and apps",
    ClientKind.API: "APIs",
}
"""Kinds of clients, as headings."""


class Behaviour(Struct, frozen=True):
    """What clients do in one respect: what it is called, what its facts are about, and what one does.

    "" is what nobody knows.
    """

    name: str
    topic: Topic
    does: Callable[[Client], str]

    def told(self, client: Client) -> str:
        """What a client does, in a few words behind how sure that is."""
        return f"{MARKS[client.confidence(self.topic)]} {does}" if (does := self.does(client)) else "?"


def _limit(number: int, over: str = "") -> str:
    return f"{number:,}{f', {over}' if over else ''}" if number else NOTHING


def _some(of: Sequence[object], noun: str) -> str:
    return count(len(of), noun) if of else NOTHING


def _search(client: Client) -> str:
    if client.search.ranker:
        return f"{client.search.ranker}, {client.search.results}"
    return NOTHING if client.listing.before == "definitions" else "not followed"


def _instructions(client: Client) -> str:
    if not client.listing.instructions:
        return "hidden"
    if client.texts.first_line:
        return "first line"
    return f"to {client.texts.instructions:,}" if client.texts.instructions else "whole"


def _longest(client: Client) -> str:
    return ", ".join(f"{one.over:,} {one.unit}s" for one in client.results.limits[:1])


def _time(client: Client) -> str:
    if client.results.seconds:
        return f"{client.results.seconds} s"
    return f"{client.http.silence} s over HTTP" if client.http.silence else ""


def _same_tools(client: Client) -> str:
    return f"{client.fidelity.tokens:,}" if client.fidelity and client.fidelity.tokens else ""


_BEFORE = {"definitions": "every tool", "names": "names", "servers": "servers", "nothing": "nothing"}
_OVER = {"refused": "refused", "cut": "cut", "middle": "cut", "hash": "hashed"}
_TWINS = {"both": "both", "first": "first stays", "last": "last stays", "error": "an error"}
_UNREAD = {"sent": "sent", "server": "all lost", "any": "all lost"}
_STRUCTURED = {"replaces": "structured", "both": "both", "no text": "text first", "ignored": "text"}
_MISFIT = {"nothing": "sent", "error": "error", "run": "ends run"}
_ERROR = {"flag": "flagged", "words": "in words", "plain": "unmarked", "hidden": "hidden", "run": "ends run"}
_TASKS = {True: "called", False: "every call fails", None: ""}
_KEPT = {True: "kept", False: "asked again", None: ""}
_NEWS = {True: "at once", False: "later", None: ""}

ASKED = (
    Behaviour("page two", Topic.LISTING, lambda one: "never" if one.listing.first_page else "shown"),
    Behaviour("changed list", Topic.PROTOCOL, lambda one: _NEWS[one.news_reach]),
    Behaviour("instructions", Topic.CUTS, _instructions),
    Behaviour("results give", Topic.RESULTS, lambda one: _STRUCTURED.get(one.results.structured, "")),
    Behaviour("errors", Topic.RESULTS, lambda one: _ERROR.get(one.results.error, "")),
    Behaviour("misfits", Topic.RESULTS, lambda one: _MISFIT.get(one.results.misfit, "")),
    Behaviour("searches by", Topic.SEARCH, _search),
    Behaviour("names", Topic.NAMES, lambda one: one.names.form.format(server="…", tool="…")),
    Behaviour("equal names", Topic.NAMES, lambda one: _TWINS.get(one.names.twins, one.names.twins)),
    Behaviour("schemas", Topic.SCHEMAS, lambda one: _some(one.schemas.changes, "change")),
)
"""What is asked most; the list of clients has a column for each."""
BEHAVIOURS = (
    Behaviour("model knows first", Topic.LISTING, lambda one: _BEFORE[one.listing.before]),
    *ASKED,
    Behaviour("most tools", Topic.LISTING, lambda one: _limit(one.listing.most)),
    Behaviour("app-only tools", Topic.LISTING, lambda one: "hidden" * one.listing.hides_app_tools or "shown"),
    Behaviour("longest name", Topic.NAMES, lambda one: _limit(one.names.limit, _OVER[one.names.over])),
    Behaviour("longest description", Topic.CUTS, lambda one: _limit(one.texts.description)),
    Behaviour("refuses schemas", Topic.SCHEMAS, lambda one: _some(one.schemas.conditions, "rule")),
    Behaviour("an invalid tool", Topic.SCHEMAS, lambda one: _UNREAD.get(one.schemas.unread, "")),
    Behaviour("longest result", Topic.RESULTS, _longest),
    Behaviour("not in results", Topic.RESULTS, lambda one: ", ".join(one.results.left_out) or NOTHING),
    Behaviour("tools as tasks", Topic.TASKS, lambda one: _TASKS[one.tasks]),
    Behaviour("an old list", Topic.PROTOCOL, lambda one: _KEPT[one.keeps_lists]),
    Behaviour("protocol", Topic.PROTOCOL, lambda one: one.protocol),
    Behaviour("calls end after", Topic.HTTP, _time),
)


def behaviour_table(clients: Sequence[Client], views: Mapping[str, ClientView] | None = None) -> Table:
    """What clients do, a column for each; with `views`, first what that makes of the tools of now."""
    seen: tuple[tuple[str, Callable[[ClientView], str]], ...] = (
        ("first call, tokens", lambda view: f"{view.before_search:,}"),
        ("tools that arrive", lambda view: f"{len(view.offered):,} of {len(view.tools):,}"),
    )
    counted = (
        (name, *(of(views[one.name]) if views and one.name in views else WAITING for one in clients))
        for name, of in (seen if views is not None else ())
    )
    known = ((one.name, *map(one.told, clients)) for one in BEHAVIOURS)
    headers = ("behaviour", *(one.name for one in clients))
    rows = ("kind", *(str(one.kind) for one in clients)), *counted, *known
    return Table("", headers, rows, notes=(LEGEND,), whole=frozenset(range(len(headers))))


_CHANGES = {
    "lose": "keywords lost",
    "keep": "most keywords lost",
    "lose_top": "lost at the top",
    "keep_top": "most lost at the top",
    "set_top": "set at the top",
    "fill_top": "added at the top",
    "add_parameter": "parameter added",
    "undescribe": "large ones undescribed",
    "empty_references": "references emptied",
    "fill_items": "items added",
    "sort": "sorted",
    "tell": "constraints in words",
    "word": "constraints in words",
    "merge_all_of": "allOf merged",
    "merge_branches": "unions merged",
    "type": "types added",
    "replace_true": "true replaced",
    "keep_parameters": "most lost of parameters",
    "require": "parameter required",
    "inline": "references inlined",
    "fill_objects": "objects closed",
    "fill_parameters": "parameters completed",
    "describe": "descriptions wrapped",
    "require_all": "all required",
    "retype": "rebuilt from types",
    "optional": "null for optional ones",
    "flatten": "combinations lost",
    "lose_parameters": "odd names lost",
}


def _changes(client: Client) -> str:
    found = dict.fromkeys(_CHANGES.get(one.does, one.does) for one in client.schemas.changes)
    return f"{MARKS[client.confidence(Topic.SCHEMAS)]} {', '.join(found) or NOTHING}"


def asked_table(*kinds: ClientKind) -> Table:
    """What is asked most of clients, a row for each: of one kind, or of several below their headings."""
    indent = "" if len(kinds) == 1 else "  "
    columns = (
        Column("client", lambda one: f"{indent}{one.name}", NAME),
        *(Column(one.name, one.told, NAME) for one in ASKED[:-1]),
        Column("same tools", _same_tools, NUMBER),
        Column("as sent", lambda one: str(one.fidelity or ""), NUMBER),
        # Last, as it is the widest.
        Column("schemas", _changes),
    )
    heads, rows = Table.of(columns, ()), list[tuple[str, ...]]()
    for kind in kinds or PLURALS:
        rows += [(PLURALS[kind], *[""] * (len(columns) - 1))] if indent else []
        rows += Table.of(columns, [one for one in all_clients() if one.kind is kind]).rows
    return replace(heads, rows=tuple(rows), notes=(LEGEND,))
