"""What a conversation with the servers over HTTP shows."""

from collections.abc import Iterator

from inspector.clients.client import Topic
from inspector.features.clients.measured.conversation import Asked, Conversation, Exchange
from inspector.features.clients.measured.reading import Said, does, shown
from inspector.features.clients.measured.wire import Outcome
from inspector.schema.json_value import JsonObject, compact

_PONG, _QUOTED = "pong of", 80
_LOST = "A session that the server forgot (404)"
_WAITS = {
    "silent": "A call that is silent for 70 seconds",
    "beat": "A call of 70 seconds with progress, or a sign of life, every 5",
    "cut": "A call whose stream ends before its result",
}


def read_http(talk: Conversation) -> Iterator[Said]:
    """The facts, each with what shows it; none of a server that the client never asked for anything."""
    noted: dict[str, list[JsonObject]] = {}
    for one in talk.log.messages:
        noted.setdefault(one["server"], []).append(one)
    for found in talk.outcomes():
        if found[1].kind == "call":
            yield from _of_call(found, noted)
    if any(one["method"] == "tools/call" for one in noted.get("marked-cut", [])) and not talk.is_done:
        yield Topic.HTTP, f"{_WAITS['cut']} has no result until the measurement ends.", _to("marked-cut")
    if asked := noted.get("marked-moved"):
        follows = any(not one.get("moved") for one in asked)
        yield Topic.HTTP, f"A redirect (307) {'is' if follows else 'is not'} followed.", _to("marked-moved")
    if asked := noted.get("marked-sign-in"):
        then = dict.fromkeys(str(one["params"].get("path")) for one in asked if one["method"] == "GET")
        says = f"After a 401 it asks for: {', '.join(then) or 'nothing'}."
        yield Topic.HTTP, says, _to("marked-sign-in")
    # Its first answer is the 502; to server/discover it is none of the session's.
    if (asked := noted.get("marked-flaky")) and asked[0]["method"] == "initialize":
        reaches = any(one.get("method") == "tools/list" for one in asked)
        yield (
            Topic.HTTP,
            f"A server whose first answer is a 502 {does(reaches, 'reach')} the model.",
            _to("marked-flaky"),
        )
    yield from _asked(noted.get("marked-http", []))


def _of_call(found: tuple[Exchange, Asked, Outcome], noted: dict[str, list[JsonObject]]) -> Iterator[Said]:
    exchange, asked, outcome = found
    server, tool = asked.key
    if all((one.get("params") or {}).get("name") != tool for one in noted.get(server, [])):
        return
    works, where = _PONG in outcome.text, shown(exchange, outcome.at)
    told = "" if works else f": “{' '.join(outcome.text.split())[:_QUOTED]}”"
    if tool in _WAITS:
        yield Topic.HTTP, f"{_WAITS[tool]} {'is waited for' if works else 'gives the model'}{told}.", where
    elif tool == "forget":
        methods = [one["method"] for one in noted[server]]
        then = methods[methods.index("tools/call") + 1 :]
        begins = "it begins a new one" if "initialize" in then else "it begins no new one"
        calls = "calls again by itself" if works else f"does not call again{told}"
        yield Topic.HTTP, f"{_LOST}: {begins}, and {calls}.", where
    elif tool == "after" and not works:
        yield Topic.HTTP, f"After that, other calls of this server fail as well{told}.", where
    elif tool == "fail_once" and not works:
        body = "with" if "petrel" in outcome.text else "without"
        yield (
            Topic.HTTP,
            f"A call that is answered with 500 is an error, {body} the answer's text{told}.",
            where,
        )


def _asked(own: list[JsonObject]) -> Iterator[Said]:
    """What it answers to what a server asks it for, and which lists it asks for itself."""
    for one in own:
        if "answered" in one:
            says = f"{one['answered']} of a server gets {one['said']}: {compact(one['what'])[:_QUOTED]}."
            yield Topic.PROTOCOL, says, _to("marked-http")
    if own:
        methods = {one.get("method") for one in own}
        lists = [name for name in ("resources/list", "prompts/list") if name in methods]
        says = f"Of a server with resources and prompts it asks for {' and '.join(lists) or 'neither'}."
        yield Topic.PROTOCOL, says, _to("marked-http")


def _to(server: str) -> str:
    return f"to the server: {server}"
