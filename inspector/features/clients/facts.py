"""What is known of clients and how sure it is: for the terminal, JSON and Markdown."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from typing import Any

from inspector.clients.client import Client, Confidence, Fact, Topic, all_clients
from inspector.core.number import count
from inspector.core.ports import SystemClock
from inspector.core.report import NAME, NOTHING, NUMBER, Column, Table, markdown_table
from inspector.session.client_matrix import WAITING
from inspector.session.client_view import ClientView, confidence_json, declares, knows

KNOWN_FIRST = {
    "definitions": "every definition",
    "names": "names",
    "servers": "servers",
    "nothing": "nothing",
}


def today() -> date:
    """The day by which a fact is stale."""
    return datetime.fromtimestamp(SystemClock().now(), UTC).date()


def client_json(client: Client) -> dict[str, Any]:
    """Its rules, and the facts behind them."""
    told = asdict(client)
    del told["results"], told["tasks"]
    facts = [asdict(fact) | {"stale": fact.is_stale(today())} for fact in client.facts]
    return told | {"facts": facts, "confidence": confidence_json(client)}


def list_report() -> Iterator[str | Table]:
    """Every known client."""
    known = (Column(one.name, one.told) for one in BEHAVIOURS if one.name in _FIRST)
    fidelity = Column("as sent", lambda one: str(one.fidelity or ""), NUMBER)
    stale = Column("stale facts", lambda one: len(one.stale(today())) or "", NUMBER)
    yield Table.of((Column("client", "name", NAME), *known, fidelity, stale), all_clients(), notes=(LEGEND,))
    yield "`toolsight clients CLIENT` shows facts, `toolsight tools --client CLIENT` its view of your tools."


def client_report(client: Client) -> Iterator[str]:
    """The facts about a client, topic by topic."""
    yield f"{client.title}: {client.about}"
    if client.fidelity is not None:
        yield client.fidelity.told
    yield f"{knows(client)}; {declares(client)}."
    for topic in Topic:
        yield ""
        yield from facts_about(client, topic)


def facts_about(client: Client, topic: Topic) -> Iterator[str]:
    """What is known of a client in one respect."""
    yield f"{topic}   {client.confidence(topic).told}"
    for fact in client.facts:
        if fact.topic is topic:
            yield f"  - {fact.says}"
            yield f"    {'; '.join(filter(None, (fact.evidence(today()), fact.source)))}"


MARKS = {
    Confidence.MEASURED: "●",
    Confidence.DOCUMENTED: "●",
    Confidence.OPEN_SOURCE: "●",
    Confidence.REPORTED: "◐",
    Confidence.ASSUMED: "○",
}
"""How sure a rule is, in a sign."""
LEGEND = "● measured, documented or open source   ◐ reported   ○ assumed   ? not known"


@dataclass(frozen=True, slots=True)
class Behaviour:
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
    return f"{client.search.ranker}, {client.search.results}" if client.search.ranker else NOTHING


def _instructions(client: Client) -> str:
    if not client.listing.instructions:
        return "hidden"
    if client.texts.first_line:
        return "first line"
    return f"{client.texts.instructions:,} characters" if client.texts.instructions else "whole"


def _longest(client: Client) -> str:
    return ", ".join(f"{one.over:,} {one.unit}s" for one in client.results.limits[:1])


_OVER = {"refused": "refused", "cut": "cut", "middle": "cut", "hash": "hashed"}
_TWINS = {"both": "both", "first": "first stays", "last": "last stays", "error": "an error"}
_UNREAD = {"sent": "sent", "server": "all lost", "any": "all lost"}
_STRUCTURED = {"replaces": "for text", "both": "with text", "no text": "if no text", "ignored": "ignored"}
_MISFIT = {"nothing": "sent", "error": "an error"}
_TASKS = {True: "called", False: "every call fails", None: ""}
_NEWS = {True: "reach the model", False: "next session", None: ""}

BEHAVIOURS = (
    Behaviour("model knows first", Topic.LISTING, lambda one: KNOWN_FIRST[one.listing.before]),
    Behaviour("pages", Topic.LISTING, lambda one: "the first" if one.listing.first_page else "all"),
    Behaviour("most tools", Topic.LISTING, lambda one: _limit(one.listing.most)),
    Behaviour("app-only tools", Topic.LISTING, lambda one: "hidden" * one.listing.hides_app_tools or "shown"),
    Behaviour("instructions", Topic.CUTS, _instructions),
    Behaviour("names", Topic.NAMES, lambda one: one.names.form.format(server="…", tool="…")),
    Behaviour("longest name", Topic.NAMES, lambda one: _limit(one.names.limit, _OVER[one.names.over])),
    Behaviour("equal names", Topic.NAMES, lambda one: _TWINS.get(one.names.twins, one.names.twins)),
    Behaviour("longest description", Topic.CUTS, lambda one: _limit(one.texts.description)),
    Behaviour("schemas", Topic.SCHEMAS, lambda one: _some(one.schemas.changes, "change")),
    Behaviour("refuses schemas", Topic.SCHEMAS, lambda one: _some(one.schemas.conditions, "rule")),
    Behaviour("an invalid tool", Topic.SCHEMAS, lambda one: _UNREAD.get(one.schemas.unread, "")),
    Behaviour("searches by", Topic.SEARCH, _search),
    Behaviour("structured results", Topic.RESULTS, lambda one: _STRUCTURED.get(one.results.structured, "")),
    Behaviour("misfit of a result", Topic.RESULTS, lambda one: _MISFIT.get(one.results.misfit, "")),
    Behaviour("longest result", Topic.RESULTS, _longest),
    Behaviour("not in results", Topic.RESULTS, lambda one: ", ".join(one.results.left_out) or NOTHING),
    Behaviour("tools as tasks", Topic.TASKS, lambda one: _TASKS[one.tasks]),
    Behaviour("list changes", Topic.PROTOCOL, lambda one: _NEWS[one.news_reach]),
    Behaviour("protocol", Topic.PROTOCOL, lambda one: one.protocol),
    Behaviour("silent calls", Topic.HTTP, lambda one: f"{one.http.silence} s" if one.http.silence else ""),
)


_FIRST = ("model knows first", "searches by")


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
    return Table("", headers, (*counted, *known), notes=(LEGEND,), whole=frozenset(range(len(headers))))


_INTRO = """\
# Real clients

What Toolsight knows about the clients that `--client` accepts, and how certain it is. Every fact has a
public source and a date: the day it was published or committed if known, otherwise the day it was looked up.
A measured one, of `toolsight clients measure CLIENT`, has the request that shows it.
Clients change fast: `toolsight clients` and the app mark facts older than 60 days as stale. A rule that
Toolsight follows is only as certain as the weakest fact behind it; remarks support no rule. `toolsight
clients --markdown` prints this page from the files in `inspector/clients/known/`, one per client.
"""


def _origin(fact: Fact) -> str:
    source = f"{fact.dated} {fact.date}".strip() or "–"
    if fact.source:
        return f"[{source}]({fact.source})"
    return ": ".join(filter(None, (source, fact.request)))


_FACTS = (
    Column("topic"),
    Column("what is known", "says"),
    Column("confidence", lambda fact: f"{fact.confidence}{' (remark)' if fact.remark else ''}"),
    Column("seen with", "seen_with"),
    Column("source", _origin),
)


def clients_markdown() -> Iterator[str]:
    """The facts about every client as a page."""
    yield _INTRO
    for client in all_clients():
        yield f"## {client.title} (`{client.name}`)\n\n{client.about}.\n"
        if client.fidelity is not None:
            yield f"{client.fidelity.told}\n"
        ordered = sorted(client.facts, key=lambda fact: list(Topic).index(fact.topic))
        yield f"{markdown_table(Table.of(_FACTS, ordered))}\n"
