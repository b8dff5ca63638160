"""What a conversation shows of a client's messages to servers, of its searches, and of results."""

import re
from collections.abc import Iterator
from typing import Any, Final

from inspector.clients.client import Topic
from inspector.core.number import count
from inspector.features.clients.measured.conversation import Asked
from inspector.features.clients.measured.marks import SERVER, Key, kept_of, left_of
from inspector.features.clients.measured.reading import Reading, Said, does, shown
from inspector.features.clients.measured.wire import Outcome
from inspector.schema.json_value import JsonObject, compact

_META = "io.modelcontextprotocol/"
MISFIT: Final = "misfit_of_2025"
"""The tool whose result does not fit, of a server as most are."""
_ENDS, _END, _OLD = "marked-ends", "end_now", "marked-old"
_NEW = "marked-new"
# A list could have been asked for again before each of so many requests to the model.
_ENOUGH = 4
_TEXT, _DATA, _ERROR = "grebe", "dabchick", "petrel"


def _protocol(reading: Reading) -> Iterator[Said]:
    # One that asks for a newer version first may go on with an older one: the last before the list counts.
    told: Said | None = None
    for message in (one for one in reading.messages if one["server"] == SERVER):
        params = message.get("params") or {}
        meta = {key.removeprefix(_META): value for key, value in (params.get("_meta") or {}).items()}
        about = params if message.get("method") == "initialize" else meta
        if "clientInfo" in about and about.get("protocolVersion") not in (None, reading.top.get("protocol")):
            told = _declares(reading, message["method"], about, about["clientInfo"])
        if message.get("method") == "tools/list":
            break
    yield from () if told is None else (told,)
    yield from _news(reading)
    yield from _kept(reading)
    yield from _meta_of_calls(reading)
    yield from _together(reading)
    yield from _ended(reading)


def _declares(reading: Reading, method: str, about: JsonObject, info: JsonObject) -> Said:
    capabilities = about.get("capabilities") or about.get("clientCapabilities") or {}
    elicitation = capabilities.get("elicitation")
    links = isinstance(elicitation, dict) and "url" in elicitation
    version = str(info.get("version", ""))
    reading.version = reading.version or version
    reading.top["protocol"] = str(about["protocolVersion"])
    reading.rules["declares"] = {
        "name": str(info.get("name", "")),
        "version": version,
        "roots": "roots" in capabilities,
        "forms": elicitation is not None and (not links or "form" in elicitation),
        "links": links,
        "sampling": "sampling" in capabilities,
    }
    named = ", ".join(sorted(capabilities)) or "nothing"
    says = f"It calls itself {info.get('name')}, speaks {about['protocolVersion']} and declares {named}."
    return Topic.PROTOCOL, says, f"to the server: {method}"


def _lists(reading: Reading, since: int, until: int) -> int:
    """How often the first server was asked for its first page, within what was noted."""
    noted = (one for one in reading.messages[since:until] if one["server"] == SERVER)
    lists = (one for one in noted if one.get("method") == "tools/list")
    return sum(not (one.get("params") or {}).get("cursor") for one in lists)


def _news(reading: Reading) -> Iterator[Said]:
    """Whether it lists again after a change: more often than it does anyway."""
    changed = next(
        (exchange for exchange, asked, _ in reading.of("call") if asked.key[1] == "change_tools"), None
    )
    if changed is None:
        return
    every = reading.talk.exchanges
    at = changed.number - 1
    pairs = zip(every[reading.first.number - 1 : at - 1], every[reading.first.number : at], strict=True)
    lists = [_lists(reading, one.noted, other.noted) for one, other in pairs]
    rhythm = max(lists, default=0)
    is_always = min(lists, default=0) > 0
    begun, ends = every[at - 1].noted, (one.noted for one in every[at : at + 2])
    again = _lists(reading, begun, max(ends)) > rhythm * len(every[at : at + 2])
    # What it lists before each request is never old.
    reading.top["follows_changes"] = again or is_always
    says = f"After list_changed it {'lists' if again else 'does not list'} the server's tools again"
    says += f"; it lists them before every request, {rhythm} time(s)." if is_always else "."
    yield Topic.PROTOCOL, says, "to the server: what follows the call of change_tools"
    later = reading.sent.get(reading.marks.later)
    reading.top["news_reach"] = later is not None
    at_ = shown(later[0], later[1].at) if later is not None else "all requests after it"
    says = f"A tool that is added within a conversation {does(later is not None, 'reach')} the model."
    yield Topic.PROTOCOL, says, at_


def _kept(reading: Reading) -> Iterator[Said]:
    """Whether it asks for a list again that may be kept for no time at all."""
    own = (one for one in reading.messages if one["server"] == _NEW)
    lists, requests = sum(one.get("method") == "tools/list" for one in own), len(reading.talk.exchanges)
    if lists and requests >= _ENOUGH:
        reading.top["keeps_lists"] = lists == 1
        says = f"A list that may be kept for no time (ttlMs 0) is asked for {count(lists, 'time')}"
        yield Topic.PROTOCOL, f"{says} in {requests:,} requests to the model.", f"to the server: {_NEW}"


def _calls(reading: Reading) -> Iterator[JsonObject]:
    return (one for one in reading.messages if one.get("method") == "tools/call")


def _meta_of_calls(reading: Reading) -> Iterator[Said]:
    found = {key for one in _calls(reading) for key in (one.get("params") or {}).get("_meta") or {}}
    if any(True for _ in _calls(reading)):
        told = ", ".join(sorted(found)) or "nothing"
        yield Topic.PROTOCOL, f"In the _meta of a call it sends: {told}.", "to the server: tools/call"
    # A subscription ends in the same way.
    calls = {(one["pid"], one.get("id")) for one in _calls(reading)}
    given = [one for one in reading.messages if one.get("method") == "notifications/cancelled"]
    if cancelled := len(calls & {(one["pid"], one["params"].get("requestId")) for one in given}):
        says = f"It sends notifications/cancelled: {cancelled} for {len(calls)} calls."
        yield Topic.PROTOCOL, says, "to the server: notifications/cancelled"


def _together(reading: Reading) -> Iterator[Said]:
    """Whether two calls that are wanted at once run at once."""
    for tool, kind in (("reads", "that are read-only"), ("writes", "that write")):
        noted = ["begins" if "begins" in one else "ends" for one in reading.messages
                 if tool in (one.get("begins"), one.get("ends"))]  # fmt: skip
        if len(noted) == 4:
            how = "together" if noted[:2] == ["begins", "begins"] else "one after the other"
            # Then it is the scripts that run so.
            is_code = any(
                asked.call.way == "code" for _, asked, _ in reading.of("call") if asked.key[1] == tool
            )
            each = ", each in a script of its own," if is_code else ""
            yield Topic.PROTOCOL, f"Two calls {kind}{each} run {how}.", f"to the server: tools/call of {tool}"


def _ended(reading: Reading) -> Iterator[Said]:
    """What it does when a server ends in a call."""
    own = [one for one in reading.messages if one["server"] == _ENDS]
    calls = [at for at, one in enumerate(own) if (one.get("params") or {}).get("name") == _END]
    if calls:
        again = any(one["pid"] != own[calls[0]]["pid"] for one in own[calls[0] :])
        says = f"A server that ends in a call is {'started again' if again else 'not started again'}"
        says += f", and called {len(calls)} times." if len(calls) > 1 else "."
        yield Topic.PROTOCOL, says, f"to the server: what follows the call of {_END}"


def _searches(reading: Reading) -> Iterator[Said]:
    most, by = 0, ""
    for exchange, asked, outcome in reading.of("search"):
        if (about := reading.marks.queries.get(str(asked.what))) is None:
            continue
        found, by = reading.found(exchange, outcome), asked.call.name
        most = max(most, len(found or ()))
        if found is None:
            told = f"gets what is not understood here: “{outcome.text.strip()[:80]}”"
        else:
            told = f"finds {', '.join(map(_named, found)) or 'nothing'}"
        yield Topic.SEARCH, f"“{asked.what}” ({about}) {told}.", shown(exchange, outcome.at)
    none = "no ranker of Toolsight's was compared with it" if most else "no search was seen"
    reading.rules["search"] |= {"results": most or 1, "none": none}
    through = {asked.call.name for _, asked, _ in reading.of("call") if asked.call.way in ("through", "code")}
    if len(through) == 1 and by:
        reading.rules["search"]["through"] = through.pop()


def _named(key: Key) -> str:
    return key[1] if key[0] == SERVER else f"{key[1]} of {key[0]}"


def _results(reading: Reading) -> Iterator[Said]:
    seen: dict[str, str] = {}
    left_out: list[str] = []
    arrived = {(one["server"], one["params"].get("name")) for one in _calls(reading)}
    for exchange, asked, outcome in reading.of("call"):
        server, tool = asked.key
        # What never came to its server shows no more than that the client keeps such calls back.
        if asked.key not in arrived and not (arrived and tool in _KEPT_BACK):
            continue
        if server in (SERVER, _OLD) and (says := _result(reading, asked, outcome)):
            seen.setdefault(tool, outcome.text)
            left_out += [_KINDS[tool]] if tool in _KINDS and not _has(tool, outcome) else []
            yield Topic.RESULTS, says, shown(exchange, outcome.at)
    rules: dict[str, Any] = {"left_out": left_out} if left_out else {}
    if (structured := seen.get("structured")) is not None and (
        alone := seen.get("structured_alone")
    ) is not None:
        rules["structured"] = _structured(structured, alone)
    # A client may forget the schemas of all pages but the last: most servers have one.
    if (misfit := seen.get(MISFIT, seen.get("misfit"))) is not None:
        rules["misfit"] = "nothing" if _got(misfit) else "error"
    reading.rules["results"] |= rules


def _structured(text: str, alone: str) -> str:
    if _DATA in text:
        return "both" if _TEXT in text else "replaces"
    if _TEXT not in text:
        return ""
    return "no text" if _DATA in alone else "ignored"


_KINDS = {"picture": "image", "sound": "audio", "link": "resource_link", "embedded": "resource"}
_WORDS = {"link": ("fulmar",), "embedded": ("puffin",)}
_BASE64 = ("iVBORw0KGgo", "UklGR")
_KEPT_BACK = ("echo", "asks_first")


def _has(tool: str, outcome: Outcome) -> bool:
    """Whether content that is no text reached the model: as what it is, or with the words that are in it."""
    if tool in _WORDS:
        parts = compact([one for one in outcome.parts if not isinstance(one, str)])
        whole = f"{outcome.text}{parts}{outcome.beside}"
        return any(word in whole for word in _WORDS[tool])
    return any("image" in kind or "audio" in kind for kind in outcome.kinds)


def _result(reading: Reading, asked: Asked, outcome: Outcome) -> str:
    """What becomes of a result, in words; "" if there is nothing to tell."""
    tool, text = asked.key[1], outcome.text
    if tool in ("text_of", "wide_text_of", "lines_of"):
        size = asked.arguments["characters"]
        wide = ' with _meta "anthropic/maxResultSizeChars"' if tool.startswith("wide") else ""
        lines = " in many lines" if tool.startswith("lines") else ""
        kept, tail = kept_of(text, size)
        if not (kept or tail) and text:
            return f"Of a text of {size:,} characters{wide}{lines}, none reaches the model: “{_start(text)}”."
        return f"Of a text of {size:,} characters{wide}{lines}, {left_of(kept, tail, size)}."
    if tool in _KINDS:
        if _has(tool, outcome):
            beside = any(word in outcome.beside for word in _WORDS.get(tool, ()))
            how = "a text of the user after the result" if beside else ", ".join(outcome.kinds)
            return f"A result's {_KINDS[tool]} reaches the model, as {how}."
        if any(start in text for start in _BASE64):
            return f"A result's {_KINDS[tool]} reaches the model as its base64 in a text alone."
        got = _start(text or outcome.beside)
        return f"A result's {_KINDS[tool]} does not reach the model, which gets: “{got}”."
    if tool in _GOT:
        got = _got(text) or f"neither: “{_start(text)}”"
        return f"Of a result {_GOT[tool]}, the model gets: {got}."
    return _said_of(reading, asked, outcome)


def _got(text: str) -> str:
    """Which of the two contents of a result are in a text; an error may quote them, and gives none."""
    if re.search(r"(?i)\b(error|invalid|failed)\b", text):
        return ""
    return " and ".join(name for name, bird in (("text", _TEXT), ("data", _DATA)) if bird in text)


_GOT = {
    "structured": "with text and structured content",
    "structured_alone": "with structured content alone",
    "text_alone": "that lacks the structured content of its schema",
    "misfit": "that does not fit its output schema",
    MISFIT: "that does not fit its output schema, of a server of 2025-11-25 with one page of tools",
}
_ERRORS = {"failing": "A result that is an error", "refusing": "An error of the protocol"}


def _said_of(reading: Reading, asked: Asked, outcome: Outcome) -> str:
    tool, text = asked.key[1], outcome.text
    if tool in _ERRORS:
        return f"{_ERRORS[tool]} {_marked(reading, outcome)}."
    if tool == "asks_first":
        runs = any((one.get("params") or {}).get("name") == tool for one in _calls(reading))
        told = "runs" if runs else "does not run"
        return f'A tool with _meta "anthropic/requiresUserInteraction" {told} without a person.'
    if tool == "silent_for":
        waits = "is waited for" if "pong" in text else f"gives the model: “{_start(text)}”"
        return f"A call that is silent for {asked.arguments['seconds']} seconds {waits}."
    return _echo(reading) if tool == "echo" else ""


def _start(text: str, most: int = 80) -> str:
    return " ".join(text.split())[:most]


def _around(text: str) -> str:
    """What stands around the server's text, but for numbers."""
    return re.sub(r"a petrel (went wrong|of the protocol)|pong of \w+|[\d.]+", "", text).strip()


def _marked(reading: Reading, outcome: Outcome) -> str:
    """How the model is told that a result is an error."""
    if _ERROR not in outcome.text:
        return f"is given without its text: “{_start(outcome.text)}”"
    if outcome.failed:
        return "is marked as one"
    usual = next((one.text for _, asked, one in reading.of("call") if asked.key == (SERVER, "ping")), "")
    rest = _around(outcome.text)
    if re.search(r"(?i)error|fail", rest):
        return "is marked as one, in words"
    return f"stands in other words: “{_start(outcome.text)}”" if rest != _around(usual) else "is not marked"


def _echo(reading: Reading) -> str:
    """What arrives at the server of arguments of other types than it declares, and of one left out."""
    given = [
        one["params"].get("arguments") or {} for one in _calls(reading) if one["params"]["name"] == "echo"
    ]
    if not given:
        return "Arguments of other types than a schema wants are refused before they reach the server."
    got = given[0]
    parts = [
        f"“5” for an integer as {compact(got.get('number'))}",
        f"7 for a text as {compact(got.get('word'))}",
    ]
    parts.append(f"'[\"x\"]' for a list as {compact(got.get('list'))}")
    left = "null is sent for the one left out" if "maybe" in got else "nothing is sent for the one left out"
    return f"Of arguments the server gets {', '.join(parts)}; {left}."


PARTS = (_protocol, _searches, _results)
"""The kinds of facts that calls show, each as a function of a reading."""
