"""Published data sets as labelled requests: what `make data` makes of their files.

Each function takes the source's files by name and returns the rows of tools.jsonl and of queries.jsonl, in
the order of the source.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

Row = dict[str, Any]
Rows = list[Row]
Files = Mapping[str, bytes]
_JSON_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": ""}
_BFCL_LICENCE = (
    "Apache-2.0 (bfcl-eval wheel METADATA 'License: Apache 2.0'; gorilla repository LICENSE Apache-2.0)"
)
# Functions of one name are the same from this share of common words in their descriptions on.
_SAME = 0.5
_OUTSIDE_IDS = re.compile(r"[^A-Za-z0-9_.-]+")


def azure_mcp(files: Files) -> tuple[Rows, Rows]:
    """The commands of Azure's server as tools, and its developers' own test prompts."""
    listed, prompts = (json.loads(files[name]) for name in ("tools.json", "prompts.json"))
    tools = [_command(one) for one in listed["results"]]
    ids = {tool["name"]: tool["id"] for tool in tools}
    known = ((name, texts) for name, texts in prompts.items() if name in ids)
    queries = [
        _query(f"{name}/{number}", text, [ids[name]], "test")
        for name, texts in known
        for number, text in enumerate(dict.fromkeys(texts))
    ]
    return tools, queries


def _command(command: Row) -> Row:
    words = command["command"].split()
    options = command.get("option") or []
    properties = {
        one["name"].lstrip("-"): {"type": one["type"], "description": one["description"]} for one in options
    }
    required = [one["name"].lstrip("-") for one in options if one.get("required")]
    description = command["description"].replace("\r\n", "\n")
    schema = _schema(properties, required) or {"type": "object", "properties": {}}
    return _tool(words[0], "_".join(words), description, schema, "MIT")


def metatool(files: Files) -> tuple[Rows, Rows]:
    """Plugins of 2023, a sentence each, and requests that were written for one of them."""
    tools = [_tool("", name, text, {}, "MIT") for name, text in json.loads(files["plugin_des.json"]).items()]
    right: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(files["all_clean_data.csv"].decode())):
        right.setdefault(row["Query"].strip(), []).append(_id("", row["Tool"]))
    queries = [
        _query(f"single/{number}", text, list(dict.fromkeys(names)), "single")
        for number, (text, names) in enumerate(right.items())
    ]
    return tools, [{**query, "groups": [query["relevant"]]} for query in queries]


def toolalpaca(files: Files) -> tuple[Rows, Rows]:
    """The operations of public APIs, and instructions with checked answers."""
    tools: Rows = []
    queries: Rows = []
    for split in ("eval_simulated", "eval_real"):
        for api in json.loads(files[f"{split}.json"]):
            mine = {tool["name"]: tool for tool in _operations(api)}
            tools += mine.values()
            for number, (asked, answer) in enumerate(
                zip(api["Instructions"], api["Golden_Answers"], strict=False)
            ):
                names = dict.fromkeys(one["Action"] for one in answer)
                if relevant := [mine[name]["id"] for name in names if name in mine]:
                    queries.append(_query(f"{split}/{api['Name']}/{number}", asked, relevant, split))
    return tools, queries


def _operations(api: Row) -> Iterator[Row]:
    """The tools of an API: its functions, with the parameters that its OpenAPI document has."""
    paths = json.loads(api["Documentation"])["paths"].values()
    operations = {
        one.get("operationId"): one for path in paths for one in path.values() if isinstance(one, dict)
    }
    for name, text in api["Function_Description"].items():
        if name == "components":
            continue
        operation = operations.get(name, {})
        properties, required = {}, []
        for one in operation.get("parameters", ()):
            kept = {key: one["schema"][key] for key in ("type", "enum") if key in one["schema"]}
            properties[one["name"]] = {**kept, "description": one.get("description", "")}
            required += [one["name"]] if one.get("required") else []
        for media in operation.get("requestBody", {}).get("content", {}).values():
            for field, one in media.get("schema", {}).get("properties", {}).items():
                properties[field] = {key: one[key] for key in ("type", "enum", "description") if key in one}
        description = text.partition("\nParameters:")[0]
        tool = _tool(api["Name"], name, description, _schema(properties, required), "Apache-2.0")
        yield {**tool, "serverDescription": api["Description"]}


def pool_docker(files: Files) -> tuple[Rows, Rows]:
    """The tools that vendors listed in a registry of servers; without requests."""
    tools = [
        _listed(path.split("/")[1], one) for path, text in sorted(files.items()) for one in json.loads(text)
    ]
    return tools, []


def _listed(server: str, tool: Row) -> Row:
    schema = tool.get("inputSchema")
    if schema is None:
        arguments = tool.get("arguments") or []
        properties = {
            one["name"]: {"type": one["type"], "description": one.get("desc", "")} for one in arguments
        }
        schema = _schema(properties, [one["name"] for one in arguments if not one.get("optional")])
    text = "MIT (registry); tool text of the upstream server"
    return _tool(server, tool["name"], tool.get("description", ""), schema, text)


_LIVE = ("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple")
ANSWERED = (*_LIVE, "simple_python", "multiple", "parallel", "parallel_multiple")
UNANSWERED = ("live_irrelevance", "irrelevance", "live_relevance")


def bfcl(files: Files) -> tuple[Rows, Rows]:
    """Single requests with checked calls; the functions that they offer, pooled into one catalog."""
    pool = _Pool()
    queries: Rows = []
    for split in (*ANSWERED, *UNANSWERED):
        name = f"BFCL_v4_{split}.json"
        answers = (
            {one["id"]: one for one in _lines(files[f"possible_answer/{name}"])} if split in ANSWERED else {}
        )
        for row in _lines(files[name]):
            ids = {one["name"]: pool.id_of(one) for one in row["function"]}
            called = [name for call in answers.get(row["id"], {}).get("ground_truth", ()) for name in call]
            if relevant := list(dict.fromkeys(ids[name] for name in called if name in ids)):
                asked = "\n".join(one["content"] for one in row["question"][0] if one["role"] == "user")
                queries.append(_query(row["id"], asked, relevant, split))
    return pool.tools, queries


class _Pool:
    """Functions by name; one whose description shares few words with those of its name gets a number."""

    def __init__(self) -> None:
        self.tools: Rows = []
        self._same: dict[str, list[tuple[str, set[str]]]] = {}

    def id_of(self, function: Row) -> str:
        name, description = function["name"], function.get("description", "")
        words = set(re.findall(r"[a-z0-9]+", description.lower()))
        same = self._same.setdefault(name, [])
        for known, theirs in same:
            if words == theirs or len(words & theirs) / len(words | theirs) >= _SAME:
                return known
        made = name if not same else f"{name}#{len(same) + 1}"
        same.append((made, words))
        tool = _tool("", name, description, _json_types(function["parameters"]), _BFCL_LICENCE)
        group = name.partition(".")[0] if "." in name else ""
        self.tools.append({**tool, "id": made, "group": group})
        return made


def _lines(text: bytes) -> Iterator[Row]:
    return (json.loads(line) for line in text.splitlines() if line.strip())


def _json_types(schema: Any) -> Any:
    """A schema with Python's names of types, with those of JSON Schema."""
    if isinstance(schema, list):
        return [_json_types(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: _json_types(value) for key, value in schema.items()}
    if isinstance(kind := schema.get("type"), str) and kind in _JSON_TYPES:
        found["type"] = _JSON_TYPES[kind]
        if not found["type"]:
            del found["type"]
    return found


def _schema(properties: Row, required: list[str]) -> Row:
    if not properties:
        return {}
    found: Row = {"type": "object", "properties": properties}
    return {**found, "required": required} if required else found


def _tool(server: str, name: str, description: str, schema: Row, licence: str) -> Row:
    return {
        "id": _id(server, name),
        "server": server,
        "name": name,
        "description": description.strip(),
        "inputSchema": schema,
        "license": licence,
    }


def _id(server: str, name: str) -> str:
    parts = (_OUTSIDE_IDS.sub("-", part).strip("-") for part in (server, name) if part)
    return "::".join(parts)


def _query(name: str, text: str, relevant: list[str], split: str) -> Row:
    return {"id": name, "query": text.strip(), "relevant": relevant, "split": split}
