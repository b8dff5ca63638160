"""A server whose tools run only as tasks: those of 2025-11-25, or with `modern` of the extension (SEP-2663).

`report` works for two polls; `ask` wants a form after the first; `endless` never ends.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

MODERN = sys.argv[1:] == ["modern"]
EXTENSION, RELATED = "io.modelcontextprotocol/tasks", "io.modelcontextprotocol/related-task"
CACHE = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
FORM: dict[str, Any] = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "Which year?",
        "requestedSchema": {"type": "object", "properties": {"year": {"type": "string"}}},
    },
}
# By task: its tool, how often it was polled, what it was answered, and the request that waits for its result.
TASKS: dict[str, dict[str, Any]] = {}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def state(id_: str) -> dict[str, Any]:
    task = TASKS[id_]
    tool, polls, said = task["tool"], task["polls"], task["answer"]
    status = "input_required" if tool == "ask" and said is None and polls else "working"
    if tool != "endless" and polls >= 2 and status == "working":
        status = "completed"
    if task["cancelled"]:
        status = "cancelled"
    units = ("ttlMs", "pollIntervalMs") if MODERN else ("ttl", "pollInterval")
    found = {"taskId": id_, "status": status, "statusMessage": f"step {polls}", units[0]: 1000, units[1]: 0}
    found |= {"inputRequests": {"year": FORM}} if MODERN and status == "input_required" else {}
    return found | ({"result": outcome(id_)} if MODERN and status == "completed" else {})


def outcome(id_: str) -> dict[str, Any]:
    said = TASKS[id_]["answer"]
    text = "done" if said is None else f"done, {json.dumps(said, sort_keys=True)}"
    return {"content": [{"type": "text", "text": text}], "_meta": {RELATED: {"taskId": id_}}}


def begun(tool: str, params: Mapping[str, Any]) -> dict[str, Any]:
    declared = params.get("_meta", {}).get("io.modelcontextprotocol/clientCapabilities", {})
    if (EXTENSION not in declared.get("extensions", {})) if MODERN else ("task" not in params):
        return {"error": {"code": -32021 if MODERN else -32601, "message": f"{tool} runs only as a task"}}
    id_ = f"t{len(TASKS) + 1}"
    TASKS[id_] = {"tool": tool, "polls": 0, "answer": None, "waits": None, "cancelled": False}
    return {"result": {"resultType": "task", **state(id_)} if MODERN else {"task": state(id_)}}


def about(id_: object, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    task = TASKS.get(params["taskId"])
    if task is None:
        return {"error": {"code": -32602, "message": "Task not found"}}
    if method == "tasks/get":
        task["polls"] += 1
    elif method == "tasks/cancel":
        task["cancelled"] = True
    elif method == "tasks/update":
        task["answer"] = params["inputResponses"]
        return {"result": {"resultType": "complete"}}
    elif state(params["taskId"])["status"] == "input_required":
        task["waits"] = id_
        meta = {RELATED: {"taskId": params["taskId"]}}
        send(id=params["taskId"], method=FORM["method"], params={**FORM["params"], "_meta": meta})
        return None
    else:
        return {"result": outcome(params["taskId"])}
    return {"result": {**state(params["taskId"]), **({"resultType": "complete"} if MODERN else {})}}


def answer(id_: object, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
    server = {"name": "tasks", "version": "1"}
    tasks: dict[str, Any] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    if method == "initialize" and not MODERN:
        declared = {"tools": {}, "tasks": tasks}
        found = {"protocolVersion": "2025-11-25", "capabilities": declared, "serverInfo": server}
        return {"result": found}
    if method == "server/discover" and MODERN:
        meta = {"io.modelcontextprotocol/serverInfo": server}
        declared = {"tools": {}, "extensions": {EXTENSION: {}}}
        return {
            "result": {"supportedVersions": ["2026-07-28"], "capabilities": declared, "_meta": meta, **CACHE}
        }
    if method == "tools/list":
        execution = {} if MODERN else {"execution": {"taskSupport": "required"}}
        tools = [
            {
                "name": name,
                "inputSchema": {"type": "object"},
                "annotations": {"readOnlyHint": True},
                **execution,
            }
            for name in ("report", "ask", "endless")
        ]
        return {"result": {"tools": tools, **(CACHE if MODERN else {})}}
    if method == "tools/call":
        return begun(params["name"], params)
    if method.startswith("tasks/"):
        return about(id_, method, params)
    return {"error": {"code": -32601, "message": "Method not found"}}


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message and "id" in message:
        body = answer(message["id"], message["method"], message.get("params") or {})
        if body is not None:
            send(id=message["id"], **body)
    elif message.get("id") in TASKS:
        # The answer to what a task asked; then it goes on, and what waits gets its result.
        asked = TASKS[message["id"]]
        asked["answer"] = message["result"]
        send(id=asked["waits"], result=outcome(message["id"]))
