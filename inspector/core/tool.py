"""A tool as its server declares it: claims, definition, and the line that sums it up; all tools together."""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Literal

from msgspec import Struct, field

from inspector.core.error import ToolsightError
from inspector.core.text import closest, expression, first_sentence, one_line, shortened
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SchemaDialect, SchemaField, fields, schema_for

MAX_WIRE_NAME = 64
_PLAIN = expression(r"[A-Za-z0-9_-]+")
_FORBIDDEN = expression(r"[^A-Za-z0-9_-]")
_SEPARATOR = "__"
_HASH_DIGITS = 10


class Annotations(Struct, frozen=True):
    """The server's own claims about a tool, which need not be true; None if it makes no claim."""

    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


TaskSupport = Literal["", "optional", "required"]
"""Whether a tool can be called as a task (protocol 2025-11-25): not, also, or only."""


# With a dict: both names are asked for thousands of times a listing, and kept.
class Tool(Struct, frozen=True, dict=True, eq=False):
    """One tool of one server. `input_schema` is JSON Schema with `type: object`; `tags` are the server's.

    `meta` are those keys of its `_meta` by which clients act, see `acting_meta`. `beside` has what else its
    server sent with it, see `declared`: no part of what it is, yet other clients may refuse it for that. Nor
    is the `page` of the server's list on which it stands.
    """

    server: str
    name: str
    description: str = ""
    input_schema: JsonObject = field(default_factory=lambda: {"type": "object"})
    annotations: Annotations = Annotations()
    output_schema: JsonObject | None = None
    title: str = ""
    tags: tuple[str, ...] = ()
    meta: JsonObject = field(default_factory=dict)
    task_support: TaskSupport = ""
    beside: JsonObject = field(default_factory=dict)
    page: int = 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tool) and all(
            getattr(self, name) == getattr(other, name) for name in DEFINING_FIELDS
        )

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # it holds dictionaries

    @cached_property
    def id(self) -> str:
        """`server:tool`, unique in a catalog; Toolsight shows tools by it."""
        return f"{self.server}:{self.name}"

    @cached_property
    def wire_name(self) -> str:
        """The name by which a model calls it."""
        return wire_name(self.server, self.name)

    @property
    def is_skill(self) -> bool:
        """Whether it stands for a skill (SKILL.md): a call returns the skill's instructions."""
        return SKILL in self.meta

    @property
    def said(self) -> str:
        """What a model reads of what it does; of a skill also how to get at its instructions."""
        return f"{self.description}\n{_SKILL_NOTE}".strip() if self.is_skill else self.description

    @cached_property
    def ending_verb(self) -> str:
        """See `destroying_verb`."""
        return _ending_verb(self)


DEFINING_FIELDS: Final = tuple(name for name in Tool.__struct_fields__ if name not in ("beside", "page"))
"""The fields that say what a tool is: two tools that agree in them are equal."""

SKILL: Final = "toolsight/skill"
"""The key of `meta` that makes an entry a skill, and says where its text is; no server can set it."""
_SKILL_NOTE = "This is a skill: call it to read its instructions, then follow them."
SEARCH_HINT = "anthropic/searchHint"
ALWAYS_LOAD = "anthropic/alwaysLoad"
_ACTING: Final = (
    SEARCH_HINT,
    ALWAYS_LOAD,
    "anthropic/maxResultSizeChars",
    "anthropic/requiresUserInteraction",
)
_UI, _VISIBILITY = "ui", "visibility"


def acting_meta(meta: object) -> JsonObject:
    """Of a tool's `_meta`, what clients are known to act by: Claude Code's keys, and MCP Apps' visibility.

    Everything else in it changes nothing for a model, and may change with every listing.
    """
    if not isinstance(meta, Mapping):
        return {}
    kept = {key: meta[key] for key in _ACTING if key in meta}
    ui = meta.get(_UI)
    if isinstance(ui, Mapping) and _VISIBILITY in ui:
        kept[_UI] = {_VISIBILITY: ui[_VISIBILITY]}
    return kept


def task_support(execution: object) -> TaskSupport:
    """What a tool's `execution` says of tasks, whatever shape it has."""
    said = execution.get("taskSupport") if isinstance(execution, Mapping) else ""
    return "required" if said == "required" else "optional" if said == "optional" else ""


def is_for_apps_alone(tool: Tool) -> bool:
    """Whether only a server's own view may call the tool (MCP Apps, SEP-1865); by default models may, too."""
    ui = tool.meta.get(_UI)
    visibility = ui.get(_VISIBILITY) if isinstance(ui, Mapping) else None
    return isinstance(visibility, list | tuple) and "model" not in visibility


def wire_name(server: str, name: str) -> str:
    """Map (server, tool) to a name every provider accepts: `^[a-zA-Z0-9_-]{1,64}$`.

    The name depends only on its two arguments, so it stays the same when the catalog changes. If
    `server__tool` would be too long or ambiguous, the name ends with a hash of both.
    """
    joined = f"{server}{_SEPARATOR}{name}"
    if len(joined) <= MAX_WIRE_NAME and _reads_back_one_way(server, name):
        return joined
    digest = hashlib.sha256(f"{server}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_DIGITS]
    slug = _FORBIDDEN.sub("_", joined)[: MAX_WIRE_NAME - _HASH_DIGITS - len(_SEPARATOR)]
    return f"{slug}{_SEPARATOR}{digest}"


def _reads_back_one_way(server: str, name: str) -> bool:
    return (
        bool(_PLAIN.fullmatch(server) and _PLAIN.fullmatch(name))
        and not server.endswith("_")
        and not name.startswith("_")
        and _SEPARATOR not in server
        and _SEPARATOR not in name
    )


def definition(tool: Tool, dialect: SchemaDialect = "") -> dict[str, Any]:
    """The tool's function definition for the `tools` array of OpenAI's chat completions API."""
    return function_definition(tool.wire_name, tool.said, schema_for(dialect, tool.input_schema))


def function_definition(name: str, description: str, parameters: JsonObject) -> dict[str, Any]:
    """An entry in the `tools` array of the chat completions format."""
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": dict(parameters)},
    }


def server_of(tool: str) -> str:
    """The server of a tool's id."""
    return tool.partition(":")[0]


# The pool of summaries tells the model about tools whose definitions are not loaded. It is part of the prefix
# that a provider caches, so its text depends only on the catalog.
_HEADER = "All tools, one a line: what each does. Full definitions of those that fit are loaded every turn."
_NAME_BOUNDARY = expression(r"(?<=[a-z])(?=[A-Z])|[\W_]+")
# Most first sentences fit; the pool is part of every request, so longer ones are cut.
SUMMARY_TOKENS = 60
# Far more than a token of prose holds: longer text is cut without counting its tokens first.
_CHARACTERS_A_TOKEN = 40


def summary_pool(tools: Sequence[Tool], max_tokens: int, count: Callable[[str], int]) -> str:
    """A header and one line per tool, in catalog order; empty without tools.

    Adding a tool at the end leaves everything before it unchanged, byte for byte. `max_tokens` limits each
    line, see `tool_summary`.
    """
    if not tools:
        return ""
    return "\n".join([_HEADER, *(tool_summary(tool, max_tokens, count) for tool in tools)])


def tool_summary(tool: Tool, max_tokens: int, count: Callable[[str], int]) -> str:
    """`server:name: first sentence of the description` on one line of at most `max_tokens` tokens.

    Without a description, the words of the tool's name replace it. A line that is too long ends with an
    ellipsis.
    """
    line = summary_line(tool)
    longest = max(0, max_tokens) * _CHARACTERS_A_TOKEN
    if len(line) <= longest and count(line) <= max_tokens:
        return line
    lengths = range(min(len(line) - 1, longest) + 1)
    fitting = bisect_right(lengths, max_tokens, key=lambda length: count(shortened(line, length)))
    return shortened(line, max(fitting - 1, 0))


def summary_line(tool: Tool) -> str:
    """The line of `tool_summary` before it is cut; the gate compares a turn with it."""
    body = first_sentence(tool.description) or " ".join(_NAME_BOUNDARY.sub(" ", tool.name).split()).lower()
    return one_line(f"{tool.id}: {body}" if body else tool.id)


# What a tool's name and choices say that it does, whatever its server claims.

_WORD = expression(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DESTROYING: Final = "delete remove drop purge erase wipe destroy uninstall revoke kill terminate"
# No words that are nouns as often (post, order, book) or may name a mere computation (add, merge, replace).
_CHANGING: Final = (
    "write create update insert upsert modify edit rename overwrite send pay transfer refund buy purchase "
    "publish upload cancel"
)
# Destroys less for sure, so that no claim is doubted for it.
_ENDING: Final = "cancel void discard trash clear reset deactivate disable suspend unlock refund"
# `get_delete_policy` only reads; in `find_and_delete` what comes after “and” is done as well.
_READING: Final = (
    "get list search find read check show describe count fetch query lookup view retrieve inspect preview "
    "validate is has"
)
_DESTROYS: Final = frozenset(_DESTROYING.split())
_CHANGES: Final = _DESTROYS.union(_CHANGING.split())
_ENDS: Final = _DESTROYS.union(_ENDING.split())
ACTS: Final = _CHANGES | _ENDS
READS: Final = frozenset(_READING.split())
_ENDING_FORMS: Final = {verb + ending: verb for verb in _ENDS for ending in ("", "s", "es")}
# A sentence's first verb, behind what leads to it: “This tool permanently deletes …”.
_FIRST_VERB = expression(
    r"\W*(?:(?:this|use|used|it|to|will|can|the|tool|function|command|\w+ly)\b\W*){0,8}([a-z]+)",
    re.IGNORECASE,
)
_LONGEST_START = 1_000
_JOINS: Final = frozenset({"and", "or", "then"})
_ACTIONS: Final = frozenset({"action", "operation", "method"})
_PATHS: Final = frozenset({"path", "file path", "file", "filename", "file name"})
_CONTENTS: Final = frozenset({"content", "contents", "file content"})


def contradiction(tool: Tool) -> str:
    """What speaks against the server's claims that the tool only reads or destroys nothing; "" if nothing.

    Only the name, its parameters and the other claims are looked at, so nothing found proves nothing. The
    words that are quoted are Toolsight's own.
    """
    claims = tool.annotations
    if claims.read_only:
        against = _against_reading(tool)
        return f"its server says it is read-only, but {against}" if against else ""
    word = _said(tool.name, _DESTROYS) if claims.destructive is False else ""
    return f"its server says it is not destructive, but its name says “{word}”" if word else ""


def destroying_verb(tool: Tool) -> str:
    """What a tool does if that destroys or ends something, by the verb of its name or first sentence; or "".

    `destructiveHint` tells nothing of that: by default it is true, and servers set it for clicks, too.
    """
    return tool.ending_verb


def _ending_verb(tool: Tool) -> str:
    if verb := _said(tool.name, _ENDS):
        return verb
    found = _FIRST_VERB.match(tool.description[:_LONGEST_START])
    return _ENDING_FORMS.get(found[1].lower(), "") if found else ""


def why_destroys(tool: Tool) -> str:
    """What says that a tool destroys or ends something, see `destroying_verb`; "" if nothing does."""
    verb, where = destroying_verb(tool), "name" if _said(tool.name, _ENDS) else "description"
    return f"its {where} says “{verb}”" if verb else ""


def _against_reading(tool: Tool) -> str:
    if word := _said(tool.name, _CHANGES):
        return f"its name says “{word}”"
    if tool.annotations.destructive:
        return "also that it may destroy or overwrite data"
    # A tool that is named for reading may filter by what was done, or look for a content in a file.
    return "" if READS.intersection(_words(tool.name)) else _taken(fields(tool.input_schema))


def _said(name: str, wanted: frozenset[str]) -> str:
    """The first wanted word that the name has as what the tool does; "" if there is none."""
    words, reads = _words(name), False
    for before, word in zip(("", *words), words, strict=False):
        if word in wanted and (not reads or before in _JOINS):
            return word
        reads = reads or word in READS
    return ""


def _taken(parameters: tuple[SchemaField, ...]) -> str:
    """How the parameters say that something is changed: by a choice of action, or by a file's new content."""
    names = {" ".join(_words(parameter.name)) for parameter in parameters}
    if names & _PATHS and names & _CONTENTS:
        return "it takes a file's path and content"
    name, word = _chosen(parameters, _CHANGES)
    return f"its parameter “{name}” can be “{word}”" if word else ""


def _chosen(parameters: tuple[SchemaField, ...], wanted: frozenset[str]) -> tuple[str, str]:
    """The parameter that lets the caller choose one of the wanted actions, and its word; "" for none."""
    for parameter in parameters:
        name = " ".join(_words(parameter.name))
        done = (_said(choice, wanted) for choice in parameter.choices if isinstance(choice, str))
        if name in _ACTIONS and (word := next(filter(None, done), "")):
            return name, word
    return "", ""


def _words(name: str) -> tuple[str, ...]:
    """The words of a name, split at signs, digits and capitals."""
    return tuple(word.lower() for word in _WORD.findall(name))


class Catalog(Struct, frozen=True, dict=True):
    """Tools in server order, for whom the session is. Other tools cannot be listed, found or called.

    `deferred_ids` wait for a search or the gate. With `advises`, no tool is deferred and the model may
    search. `permitted` are all that may be used, with those for their server's own view alone; () if that is
    no more.
    """

    tools: tuple[Tool, ...] = ()
    deferred_ids: frozenset[str] = frozenset()
    advises: bool = False
    permitted: tuple[Tool, ...] = ()

    @cached_property
    def seen(self) -> tuple[Tool, ...]:
        """What a client sees listed: it decides about tools for views itself, and finds skills."""
        return tuple(tool for tool in self.permitted or self.tools if not tool.is_skill)

    @cached_property
    def views(self) -> tuple[Tool, ...]:
        """The tools for their server's own view alone: a person can call them, no model knows them."""
        return tuple(tool for tool in self.permitted if tool.id not in self.by_id)

    @cached_property
    def by_id(self) -> Mapping[str, Tool]:
        return {tool.id: tool for tool in self.tools}

    @cached_property
    def by_wire_name(self) -> Mapping[str, Tool]:
        return {tool.wire_name: tool for tool in self.tools}

    @cached_property
    def servers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(tool.server for tool in self.tools))

    @cached_property
    def deferred(self) -> tuple[Tool, ...]:
        """The tools that wait for a search, including those loaded since."""
        return tuple(tool for tool in self.tools if tool.id in self.deferred_ids)

    def views_of(self, server: str) -> tuple[str, ...]:
        """The names of its tools that no model knows."""
        return tuple(tool.name for tool in self.views if tool.server == server)

    def get(self, tool_id: str) -> Tool | None:
        return self.by_id.get(tool_id)

    def require(self, name: str) -> Tool:
        """Return the only tool that a person calls `name`. Raises ToolsightError with the closest ids."""
        matches = self.named(name) or tuple(tool for tool in self.views if name in (tool.id, tool.name))
        if len(matches) == 1:
            return matches[0]
        near = [tool.id for tool in matches] or closest(name, self.by_id)
        hint = f"Closest: {', '.join(near)}." if near else "No connected server has such a tool."
        problem = f"'{name}' matches several tools" if matches else f"there is no tool '{name}'"
        raise ToolsightError(problem, hint=hint)

    def named(self, name: str) -> tuple[Tool, ...]:
        """The tools that `name` can refer to as an id, a wire name or a plain name."""
        exact = self.by_id.get(name) or self.by_wire_name.get(name)
        return (exact,) if exact else tuple(tool for tool in self.tools if tool.name == name)
