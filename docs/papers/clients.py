"""The page about clients, `clients.md`: what is known of each, and its sources. `make docs` writes it."""

from collections.abc import Iterator
from pathlib import Path

from docs.papers.report import markdown_table
from inspector.clients.client import Fact, Topic, all_clients
from inspector.core.report import Column, Table
from inspector.features.clients.behaviour import COST, LEGEND, PLURALS, asked_table

PAGE = Path(__file__).with_suffix(".md")

_INTRO = """\
# Real clients

What Toolsight knows about the clients that `--client` accepts, and how certain it is. Every fact has a
public source and a date: the day it was published or committed if known, otherwise the day it was looked up.
A measured one, of `toolsight clients measure CLIENT`, has the request that shows it.
Clients change fast: `toolsight clients` and the app mark facts older than 60 days as stale. A rule that
Toolsight follows is only as certain as the weakest fact behind it; remarks support no rule. What a client
sends is held against a run of it in `fixtures/clients/`: “98 of 98 as sent” says how many of the definitions,
with name, description and schema, the rules give as it sent them. `make docs` writes this
page from the files in `inspector/clients/known/`, one per client.
"""


_COLUMNS = """\
- page two: whether tools on a later page of a server's list reach the model.
- changed list: whether a tool that is added in a session does at once, or later, in the next session.
- instructions: how much of a server's instructions reaches the model.
- results give: what the model gets of a result that has both, its text or its structured content.
- errors: how the model knows a result that is an error: by the API's flag, in words, or not at all.
- misfits: what becomes of a result that does not fit the tool's output schema.
- searches by: how tools are found that are not bound at once, and how many a search loads.
- as sent: how many definitions Toolsight gives as the client sent them.
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


def _parts() -> Iterator[str]:
    """The facts about every client as a page."""
    yield _INTRO
    for kind, plural in PLURALS.items():
        yield f"## {plural[0].upper()}{plural[1:]}\n\n{markdown_table(asked_table(kind))}\n"
    yield f"{LEGEND}\n\n{_COLUMNS}- {COST}.\n"
    for client in all_clients():
        yield f"## {client.title} (`{client.name}`)\n\n{client.about}.\n"
        if client.fidelity is not None:
            yield f"{client.fidelity.told}\n"
        ordered = sorted(client.facts, key=lambda fact: list(Topic).index(fact.topic))
        yield f"{markdown_table(Table.of(_FACTS, ordered))}\n"


def written() -> str:
    """The page, ending in a newline."""
    return "\n".join((*_parts(), ""))
