"""What is known of clients and how sure it is: for the terminal and JSON."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

from msgspec import to_builtins

from inspector.clients.client import Client, Topic
from inspector.core.ports import SystemClock
from inspector.session.client_view import confidence_json, declares, knows

MORE = "`toolsight clients CLIENT` shows facts, `toolsight tools --client CLIENT` its view of your tools."
"""What else there is to see."""


def today() -> date:
    """The day by which a fact is stale."""
    return datetime.fromtimestamp(SystemClock().now(), UTC).date()


def client_json(client: Client) -> dict[str, Any]:
    """Its rules, and the facts behind them."""
    told: dict[str, Any] = to_builtins(client)
    del told["results"], told["tasks"]
    facts = [to_builtins(fact) | {"stale": fact.is_stale(today())} for fact in client.facts]
    return told | {"facts": facts, "confidence": confidence_json(client)}


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
    yield f"{topic}   {client.sure(topic)}"
    for fact in client.facts:
        if fact.topic is topic:
            yield f"  - {fact.says}"
            yield f"    {'; '.join(filter(None, (fact.evidence(today()), fact.source)))}"
