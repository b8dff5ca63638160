"""A server that asks its client for things, in either era: ASKING=modern speaks 2026-07-28.

Its tools answer with what the client said, as JSON: `declared`, `form`, `link`, `folders`, `sample`,
`lacking` and `demand` (errors: for clients that declare less, and one that demands a visit), `done` (says
that the visit is complete), `cancel` (a form that is taken back), `endless` (never has enough), `nagging`
(twenty questions in a row or at once), `several` (three at once, until all are answered), `odd` (one that
nobody can read), `odder` (no questions, but a list), `pid` and `meta` (what came with the call). It never
answers `resources/list`.
"""

import json
import os
import sys
from typing import Any

IS_MODERN = os.environ.get("ASKING") == "modern"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FORM = {"mode": "form", "message": "Where?", "requestedSchema": SCHEMA}
LINK = {"mode": "url", "message": "Pay", "url": "https://pay.example/1", "elicitationId": "e1"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say yes"}}], "maxTokens": 5}
QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "form": ("elicitation/create", FORM),
    "link": (
        "elicitation/create",
        {key: LINK[key] for key in ("mode", "message", "url")} if IS_MODERN else LINK,
    ),
    "folders": ("roots/list", {}),
    "sample": ("sampling/createMessage", SAMPLE),
}
ERRORS: dict[str, dict[str, Any]] = {
    "demand": {"code": -32042, "message": "x", "data": {"elicitations": [LINK]}},
    "lacking": {"code": -32021, "message": "no", "data": {"requiredCapabilities": {"sampling": {}}}},
}
OTHERS = "lacking demand done cancel endless nagging meta several odd odder pid"
NAMES = ("declared", *QUESTIONS, *OTHERS.split(" "))
MORE = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"} if IS_MODERN else {}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], value: object) -> None:
    content = [{"type": "text", "text": json.dumps(value)}]
    result = {"content": content, **({"resultType": "complete"} if IS_MODERN else {})}
    send({"id": request["id"], "result": result})


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    message: dict[str, Any] = json.loads(line)
    return message


def ask(method: str, params: dict[str, Any]) -> object:
    """Ask the client and wait for what it says."""
    send({"id": "question", "method": method, "params": params})
    while (said := read()).get("id") != "question":
        pass
    return said.get("result", said.get("error"))


def call(request: dict[str, Any], declared: object) -> None:
    params, name = request["params"], request["params"]["name"]
    known = {"declared": declared, "meta": params.get("_meta"), "pid": os.getpid()}
    if name in known:
        answer(request, known[name])
    elif name in ERRORS:
        send({"id": request["id"], "error": ERRORS[name]})
    elif name == "done":
        send({"method": "notifications/elicitation/complete", "params": {"elicitationId": "e1"}})
        answer(request, "done")
    elif name == "cancel":
        send({"id": "question", "method": "elicitation/create", "params": FORM})
        send({"method": "notifications/cancelled", "params": {"requestId": "question"}})
        answer(request, "taken back")
    elif name == "nagging":
        nag(request)
    elif name == "several":
        several(request)
    elif name in ("odd", "odder"):
        unreadable = {"method": "elicitation/create", "params": {"requestedSchema": SCHEMA}}
        wanted: Any = {"q": unreadable} if name == "odd" else [unreadable]
        send({"id": request["id"], "result": {"resultType": "input_required", "inputRequests": wanted}})
    elif not IS_MODERN:
        answer(request, ask(*QUESTIONS[name]))
    elif "inputResponses" in params and name != "endless":
        answer(request, [params["inputResponses"]["q"], params["requestState"]])
    else:
        method, asked = QUESTIONS.get(name, QUESTIONS["folders"])
        wanted = {"q": {"method": method, "params": asked}}
        result = {"resultType": "input_required", "inputRequests": wanted, "requestState": "s"}
        send({"id": request["id"], "result": result})


def nag(request: dict[str, Any]) -> None:
    """Ask twenty times in one call, for a form and for a model's answer in turn."""
    asked = [QUESTIONS["form"], QUESTIONS["sample"]] * 10
    if IS_MODERN:
        wanted = {str(n): {"method": method, "params": params} for n, (method, params) in enumerate(asked)}
        send({"id": request["id"], "result": {"resultType": "input_required", "inputRequests": wanted}})
    else:
        answer(request, [ask(*each) for each in asked])


def several(request: dict[str, Any]) -> None:
    """Ask three things at once, and those that are left out again; what is known is in the state."""
    asked, params = {name: QUESTIONS[name] for name in ("form", "sample", "folders")}, request["params"]
    known = {**json.loads(params.get("requestState", "{}")), **params.get("inputResponses", {})}
    if IS_MODERN and known.keys() != asked.keys():
        wanted = {key: {"method": one[0], "params": one[1]} for key, one in asked.items() if key not in known}
        result = {"resultType": "input_required", "inputRequests": wanted, "requestState": json.dumps(known)}
        return send({"id": request["id"], "result": result})
    for key, (method, about) in ({} if IS_MODERN else asked).items():
        send({"id": key, "method": method, "params": about})
    while known.keys() != asked.keys():
        said = read()
        if said.get("id") in asked:
            known[said["id"]] = said.get("result", said.get("error"))
    return answer(request, known)


def main() -> None:
    declared: object = None
    info = {"capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}
    while True:
        request = read()
        params, method = request.get("params") or {}, request.get("method")
        if IS_MODERN:
            declared = params.get("_meta", {}).get("io.modelcontextprotocol/clientCapabilities")
        if method == "initialize" and not IS_MODERN:
            declared = [params["capabilities"], params["clientInfo"]["name"]]
            send({"id": request["id"], "result": {"protocolVersion": "2025-11-25", **info}})
        elif method == "server/discover" and IS_MODERN:
            send({"id": request["id"], "result": {"supportedVersions": ["2026-07-28"], **info, **MORE}})
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]
            send({"id": request["id"], "result": {"tools": tools, **MORE}})
        elif method == "tools/call":
            call(request, declared)
        elif method == "ping":
            send({"id": request["id"], "result": {}})
        elif "id" in request and method and method != "resources/list":
            send({"id": request["id"], "error": {"code": -32601, "message": "unknown"}})


if __name__ == "__main__":
    main()
