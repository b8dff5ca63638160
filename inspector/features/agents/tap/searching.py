"""What a client searches for with a server's own search for tools, such as that of a gateway."""

import re
from collections.abc import Collection

from inspector.core.events import SearchPerformed
from inspector.core.ranking import Hit, Outcome, Score, SearchReport, SearchRequest
from inspector.schema.json_value import JsonObject, as_object

_SEARCH = re.compile(r"(?:(?:search|find|discover)[_-]?tools?|tools?[_-]?search)(?:_\w+)?", re.IGNORECASE)
_QUERIES = ("query", "q", "task", "intent")
_NAME = re.compile(r"(?<![\w.:/-])\"?name\"?\s*:\s*\"?([\w./:-]{1,128})")
_MOST = 50


def query_of(params: JsonObject) -> str:
    """What a call of a tool searches tools for; "" if it is another call."""
    arguments = as_object(params.get("arguments"))
    asked = next((arguments[key] for key in _QUERIES if isinstance(arguments.get(key), str)), "")
    return asked if _SEARCH.fullmatch(str(params.get("name") or "")) else ""


def search(
    query: str, answer: str, server: str, agent: str, listed: Collection[str], error: str
) -> SearchPerformed:
    """The search, with the tools that its answer names, or that the server lists and it mentions."""
    mentioned = set(re.findall(r"[\w./:-]+", answer))
    named = [*_NAME.findall(answer), *(id_.partition(":")[2] for id_ in listed)]
    found = [f"{server}:{name}" for name in dict.fromkeys(named) if name in mentioned][:_MOST]
    hits = (Hit(rank, Score(id_, 0.0), Outcome.LOADED) for rank, id_ in enumerate(found, start=1))
    return SearchPerformed(
        SearchReport(SearchRequest(query), agent, tuple(hits), error=error, unscored=True), error
    )
