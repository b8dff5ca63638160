"""What becomes of a tool on its way to a client's model: name, description, schema, results."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from inspector.clients.change import Change, Kind
from inspector.clients.client import Client, NameRule, ResultLimit, SchemaRule, TextRule, Topic
from inspector.clients.refusal import refusals
from inspector.core.message import ToolResult
from inspector.core.number import count
from inspector.core.tool import Tool, function_definition, is_for_apps_alone
from inspector.schema.json_value import JsonObject, compact
from inspector.schema.parts import changed

_HASH_DIGITS, _FEW_DIGITS = 12, 8
_MIDDLE, _DELIMITER = "...", "__"
_DESCRIPTION = "description"
_TASKS = {
    False: Change(Kind.TASK, "every call fails: it runs only as a task", "execution.taskSupport"),
    None: Change(Kind.UNKNOWN, "it runs only as a task; whether the client calls one so is not known"),
}
_HIDDEN = Change(Kind.HIDDEN, "only its server's own view may call it", "_meta.ui.visibility")
# Without these a model can call a tool as well.
_SPARE = frozenset({"title", "$schema", "$id", "$comment"})
# A server may nest schemas as deep as it likes.
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Cut:
    """A text of which the model reads the first `kept` characters, and a `mark` if that is not all."""

    text: str
    kept: int
    mark: str = ""

    @property
    def shown(self) -> str:
        return self.text[: self.kept] + (self.mark if self.lost else "")

    @property
    def lost(self) -> str:
        return self.text[self.kept :]


@dataclass(frozen=True, slots=True)
class SeenTool:
    """A tool as a client's model gets it.

    `refused` says why the model does not get it at all; `changes` are what else becomes of it. With `bound`,
    its definition is there from the start, though others wait for a search. `definition` is in the chat
    completions format whatever the client sends, so that its tokens compare.
    """

    tool: Tool
    name: str
    description: Cut
    definition: JsonObject
    changes: tuple[Change, ...] = ()
    refused: Change | None = None
    bound: bool = False


def cut(text: str, limit: int, mark: str = "") -> Cut:
    """A text cut after `limit` characters; 0 is no limit."""
    return Cut(text, min(len(text), limit) if limit else len(text), mark)


def kept_of(rule: TextRule, instructions: str) -> Cut:
    """What a client shows of a server's instructions."""
    kept = cut(instructions, rule.instructions, rule.mark)
    if not rule.first_line:
        return kept
    return Cut(instructions, min(len(instructions.partition("\n")[0]), kept.kept))


def as_sent(client: Client, tools: Iterable[Tool]) -> tuple[Tool, ...]:
    """The tools that a client's model can get, with the texts and schemas that it gets of them."""
    found = (see(client, tool) for tool in tools)
    return tuple(
        replace(
            seen.tool,
            description=seen.description.text[: seen.description.kept],
            input_schema=seen.definition["function"]["parameters"],
        )
        for seen in found
        if not seen.refused
    )


def see(client: Client, tool: Tool, name: str = "") -> SeenTool:
    """What the client makes of a tool alone, or under a name. Does not raise, whatever the tool declares."""
    name = name or sent_name(client.names, tool.server, tool.name)
    texts, listing = client.texts, client.listing
    bound = bool(listing.always) and tool.meta.get(listing.always) is True
    description = cut(tool.description, (bound and texts.bound) or texts.description, texts.mark)
    schema, changes, refused = sent_schema(client.schemas, tool.input_schema)
    told = [*_name_changes(client.names, name, tool), *changes]
    if description.lost:
        says = f"description cut after {description.kept:,} of {len(description.text):,} characters"
        told.append(Change(Kind.CUT, says, "description"))
    if tool.task_support == "required" and client.tasks in _TASKS:
        told.append(_TASKS[client.tasks])
    is_hidden = listing.hides_app_tools and is_for_apps_alone(tool)
    return SeenTool(
        tool,
        name,
        description,
        function_definition(name, description.shown, schema),
        tuple(told),
        _too_long(client.names, name) or refused or (_HIDDEN if is_hidden else None),
        bound,
    )


def see_all(client: Client, tools: Sequence[Tool], server: str = "") -> tuple[SeenTool, ...]:
    """What the client makes of a catalog, or of one server's part of it.

    Tools are marked that share a name, which no model tells apart.
    """
    names = _names(client.names, tools)
    named: dict[str, list[str]] = {}
    for tool, name in zip(tools, names, strict=True):
        named.setdefault(name, []).append(tool.id)
    return tuple(
        _beside(see(client, tool, name), named[name])
        for tool, name in zip(tools, names, strict=True)
        if server in ("", tool.server)
    )


def _beside(seen: SeenTool, named: Sequence[str]) -> SeenTool:
    """The tool beside all of its name."""
    others = [id_ for id_ in named if id_ != seen.tool.id]
    if not others:
        return seen
    return replace(
        seen, changes=(*seen.changes, Change(Kind.TWIN, f"same name as {', '.join(others)}", "name"))
    )


def sent_name(rule: NameRule, server: str, tool: str) -> str:
    """The name of a tool as the model reads it; one that is refused is returned whole."""
    name = rule.form.format(server=_server_part(rule, server), tool=_replaced(rule.replaced, tool))
    if rule.over == "changed" and (plain := rule.form.format(server=server, tool=tool)) != name[: rule.limit]:
        # Cline's: of every name that is not as it was, also for its length.
        digest = f"_{_sha1(plain)[:_FEW_DIGITS]}"
        return f"{name[: rule.limit - len(digest)]}{digest}"
    if not rule.limit or len(name) <= rule.limit or rule.over in ("refused", "changed"):
        return name
    if rule.over == "cut":
        return name[: rule.limit]
    if rule.over == "middle":
        half = (rule.limit - len(_MIDDLE)) // 2
        return f"{name[:half]}{_MIDDLE}{name[-half:]}"
    return _hashed(rule, _server_part(rule, server), server, tool)


def _server_part(rule: NameRule, server: str) -> str:
    part = _replaced(rule.server_replaced or rule.replaced, server.lower() if rule.server_lower else server)
    return part[: rule.server_limit] if rule.server_limit else part


def _names(rule: NameRule, tools: Sequence[Tool]) -> list[str]:
    """The names of all tools, as Codex keeps them apart: of servers or tools that would be equal, a hash."""
    if rule.over != "hash":
        return [sent_name(rule, tool.server, tool.name) for tool in tools]
    servers: dict[str, set[str]] = {}
    for tool in tools:
        servers.setdefault(_server_part(rule, tool.server), set()).add(tool.server)
    called = [_replaced(rule.replaced, tool.name) for tool in tools]
    twins = Counter((tool.server, name) for tool, name in zip(tools, called, strict=True))
    names = []
    for tool, name in zip(tools, called, strict=True):
        part, last = _server_part(rule, tool.server), name
        part += _digest(tool.server, tool.server, "") if len(servers[part]) > 1 else ""
        last += _tool_digest(tool.server, tool.name) if twins[tool.server, name] > 1 else ""
        whole = rule.form.format(server=part, tool=last)
        fits = len(whole) <= rule.limit
        names.append(whole if fits else _hashed(rule, part, tool.server, tool.name))
    return names


def _hashed(rule: NameRule, part: str, server: str, tool: str) -> str:
    """The name with a hash at its end; after a server's name that leaves no room for it, the hash alone."""
    before, digest = rule.form.format(server=part, tool=""), _tool_digest(server, tool)
    room = rule.limit - len(before) - len(digest)
    if room >= 0:
        return f"{before}{_replaced(rule.replaced, tool)[:room]}{digest}"
    namespace = before.removesuffix(_DELIMITER)[: rule.limit - len(digest) - len(_DELIMITER)]
    return f"{namespace}{_DELIMITER}{digest}"


def _tool_digest(server: str, tool: str) -> str:
    return _digest(server, server, "", tool, tool)


def _digest(*parts: str) -> str:
    """A hash as Codex makes it: of server, namespace, connector, and of a tool's callable and own name."""
    return "_" + _sha1("\0".join(parts))[:_HASH_DIGITS]


def _sha1(text: str) -> str:
    return hashlib.sha1(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _replaced(pattern: str, text: str) -> str:
    return re.sub(pattern, "_", text) if pattern else text


def _too_long(rule: NameRule, name: str) -> Change | None:
    if not rule.limit or len(name) <= rule.limit:
        return None
    says = f"its name has {len(name)} characters; at most {rule.limit} are allowed"
    return Change(Kind.NAME_REFUSED, says, "name")


def _name_changes(rule: NameRule, name: str, tool: Tool) -> Iterator[Change]:
    plain = rule.form.format(server=tool.server, tool=tool.name)
    if rule.limit and len(plain) > rule.limit >= len(name):
        yield Change(Kind.NAME_CUT, f"name shortened from {len(plain)} characters", "name")
    replaced = _replaced(rule.replaced, plain)
    if replaced != plain:
        yield Change(Kind.RENAMED, f"renamed from {plain}", "name")


def _removed(keys: Sequence[str], more: str = "", place: str = "inputSchema") -> Change:
    """Keywords of a schema that are removed; a call may need what they said."""
    kind = Kind.SPARE if _SPARE.issuperset(keys) else Kind.SCHEMA
    return Change(kind, f"schema: {', '.join(keys)} removed{more}", place)


def sent_schema(
    rule: SchemaRule, schema: JsonObject
) -> tuple[dict[str, Any], tuple[Change, ...], Change | None]:
    """A schema as the model gets it, what was changed, and why it is refused if it is."""
    refused = next((one for one in refusals(rule.conditions, schema) if one.effect == "refused"), None)
    if refused is not None:
        place, by = f"inputSchema.{refused.place}".rstrip("."), refused.condition
        return dict(schema), (), Change(Kind.SCHEMA_REFUSED, refused.says, place, by.source, by.date)
    top = [key for key in rule.top if key in schema]
    changes = [_removed(top, " from the top level", f"inputSchema.{top[0]}")] if top else []
    kept: dict[str, Any] = {key: value for key, value in schema.items() if key not in top}
    if rule.keeps:
        lost: dict[str, None] = {}
        kept = _with(kept, frozenset(rule.keeps), lost, _DEEPEST)
        changes += [_removed(list(lost))] if lost else []
    if rule.largest and len(compact(kept).encode("utf-8", "surrogatepass")) >= rule.largest:
        kept = without_descriptions(kept)
        says = "schema: too large, so all parameter descriptions were removed"
        changes.append(Change(Kind.SCHEMA, says, "inputSchema"))
    return kept, tuple(changes), None


def _with(schema: JsonObject, keeps: frozenset[str], lost: dict[str, None], levels: int) -> dict[str, Any]:
    """The schema with these keywords only, down to so many levels; the others are added to `lost`."""
    lost.update(dict.fromkeys(key for key in schema if key not in keeps))
    kept = {key: value for key, value in schema.items() if key in keeps}
    return changed(kept, lambda one: _with(one, keeps, lost, levels - 1)) if levels else kept


def without_descriptions(schema: JsonObject, levels: int = _DEEPEST) -> dict[str, Any]:
    """A schema without its descriptions, down to so many levels. A parameter named `description` stays."""
    kept = {key: value for key, value in schema.items() if key != _DESCRIPTION}
    return changed(kept, lambda one: without_descriptions(one, levels - 1)) if levels else kept


# What a client's model would lose of a result.


@dataclass(frozen=True, slots=True)
class KeptResult:
    """What the models of some clients get of a result, in words, and the clients with how sure that is."""

    says: str
    clients: tuple[str, ...]

    def __str__(self) -> str:
        return f"{'; '.join(self.clients)}: {self.says}"


def kept_results(
    clients: Iterable[Client], tool: Tool, result: ToolResult, tokens: Callable[[str], int]
) -> tuple[KeptResult, ...]:
    """What each client would lose of a result: one entry for all that lose the same, none for the others.

    Its tokens are counted by Toolsight's tokenizer, not the client's.
    """
    outcomes: dict[str, list[str]] = {}
    for client in clients:
        if says := "; ".join(_losses(client, tool, result, tokens)):
            outcomes.setdefault(says, []).append(f"{client.title} ({client.confidence(Topic.RESULTS).told})")
    return tuple(KeptResult(says, tuple(names)) for says, names in outcomes.items())


def _losses(client: Client, tool: Tool, result: ToolResult, tokens: Callable[[str], int]) -> Iterator[str]:
    rule, text = client.results, result.text
    if rule.structured and result.structured is not None and not result.is_error:
        if not _says_the_same(text, result.structured):
            yield "structured content in place of the text"
        text = compact(result.structured)
    lost = [one.kind for one in result.attachments if one.kind in rule.left_out]
    if lost:
        yield f"without {', '.join(dict.fromkeys(lost))}"
    for limit in rule.limits:
        size = _size(limit, text, tokens)
        # What Toolsight itself cut, the client would have got.
        size = result.in_whole(size) if text is result.text else size
        most = tool.meta.get(limit.changed_by, limit.over)
        if isinstance(most, int) and size > most:
            kept = "part" if limit.kept is None else f"{limit.kept:,}"
            yield f"{kept} of {count(size, limit.unit)}: {limit.rest}"
            return


def _says_the_same(text: str, structured: JsonObject) -> bool:
    """Whether a text is the structured content as JSON, or one of its values: many servers only wrap it."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        said = text
    return said == structured or said in structured.values() or text in structured.values()


def _size(limit: ResultLimit, text: str, tokens: Callable[[str], int]) -> int:
    if limit.unit == "token":
        return tokens(text)
    return len(text.encode("utf-8", "surrogatepass")) if limit.unit == "byte" else len(text)
