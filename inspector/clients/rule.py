"""The words for what clients do to tools, to their names, texts, schemas and results; and those as TOML."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct

from inspector.clients.refusal import Condition


class NameRule(Struct, frozen=True, forbid_unknown_fields=True):
    """How a model reads a tool's name. `form` joins `{server}` and `{tool}`.

    Characters that match the pattern `replaced` become the text `by`, in a tool's name those that match
    `dropped` go, in a server's name those that match
    `server_replaced`; a tool's name may become `lower` case, or its server's. A server's name ends after
    `server_limit` characters (0: never). A name of more than `limit` characters (0: any length) is `refused`,
    `cut` at its end, cut in the `middle`, or cut and given a `hash`, as are those that are `changed` in any
    way, or so that they equal another of their server (`clash`), or `always` all.

    A hash has so many `digits`, of the `plain` name, of the one that is `sent`, or of what that form gives;
    Codex's is of server and tool. Of `twins`, tools whose names are equal in the end, `both` are sent, or the
    first, or the last, or all with a hash or a number, or they are an error, and none is ("": not known).
    Only what matches `allowed` may be in a name ("": anything); one that is refused may cost all tools of its
    `server`.
    """

    form: str = "{tool}"
    replaced: str = ""
    by: str = "_"
    dropped: str = ""
    server_replaced: str = ""
    server_lower: bool = False
    lower: bool = False
    server_limit: int = 0
    limit: int = 0
    over: Literal["refused", "cut", "middle", "hash"] = "refused"
    hash: Literal["codex", "sha1", "sha256", "fnv-36", "fnv-16"] = "codex"
    hash_of: str = "plain"
    hashed: Literal["long", "changed", "clash", "always"] = "long"
    digits: int = 12
    twins: Literal["", "both", "first", "last", "hashed", "numbered", "error"] = ""
    allowed: str = ""
    refuses: Literal["tool", "server"] = "tool"


class TextRule(Struct, frozen=True, forbid_unknown_fields=True):
    """After how many characters texts are cut (0: never), and the `mark` that follows a cut.

    Descriptions that are `bound` at once may end earlier than those that a search loads (0: as those).
    `changed_by` is the variable by which a person changes that. With `first_line`, only the first line of a
    server's instructions is shown. `block` is the size in bytes (UTF-8) of everything that is listed of
    servers (0: any). An `empty` description becomes this text, with `{server}`, `{tool}` and `{title}` in it;
    others stand between `before`, which may have `{server}`, and `after`; blanks around them are `stripped`.
    """

    description: int = 0
    bound: int = 0
    instructions: int = 0
    mark: str = ""
    changed_by: str = ""
    first_line: bool = False
    block: int = 0
    empty: str = ""
    stripped: bool = False
    before: str = ""
    after: str = ""


SchemaChangeName = Literal[
    "lose", "keep", "lose_top", "keep_top", "set_top", "fill_top",
    "add_parameter", "undescribe", "nullable", "empty_references", "fill_items", "sort", "tell",
    "merge_all_of", "merge_branches", "type", "replace_true", "keep_parameters", "require",
    "inline", "fill_objects", "fill_parameters", "describe", "require_all", "retype",
    "optional", "flatten", "lose_parameters", "word",
]  # fmt: skip
"""What a client may do to a schema; `schema_change.py` and `framework_change.py` say what each is."""


class SchemaChange(Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that a client does to every schema, to these keywords or parameters, with this value."""

    does: SchemaChangeName
    keys: tuple[str, ...] = ()
    value: Any = None


class SchemaRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of an input schema: `changes`, in this order. Then what does not meet the
    `conditions` is refused.

    A tool that is not valid by MCP, and so `unread` here, is `sent`, or costs all of its `server`: with `any`
    also for its output schema, else not for that alone. "" is not known.
    """

    changes: tuple[SchemaChange, ...] = ()
    conditions: tuple[Condition, ...] = ()
    unread: Literal["", "sent", "server", "any"] = ""

    def has(self, name: SchemaChangeName) -> bool:
        """Whether the client does this."""
        return any(change.does == name for change in self.changes)


class HttpRule(Struct, frozen=True, forbid_unknown_fields=True):
    """How the client speaks to servers over HTTP: with `headers`, marked parameters go as headers, too.

    A call without a sign of life for `silence` seconds ends with an error (0: none is known to end it).
    """

    headers: bool = False
    silence: int = 0


Before = Literal["definitions", "names", "servers", "nothing"]
"""What a model knows of deferred tools before a search: all, their names, their servers, nothing."""


class ListingRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What is listed before any search, and whether that includes the servers' instructions.

    More than `most` tools (0: any number) are an error, or left out. Tools whose `_meta` says true for the
    key `always` are bound at once; of at most `few` in all every tool is, and no instructions are shown. With
    `hides_app_tools`, the model gets no tools that are for a server's own view alone; with `first_page`, none
    that is on a later page of the list, and with `empty_ends` none behind an empty cursor. One that `ends` by
    itself reads pages only while they list something new. What `costs` all tools may be a `page` that fails,
    an `endless` list, a bad `cursor` or `noise` on stdout. `place` is where instructions go: into a text of
    the system, of the user, or into a description; "" if that is not known.
    """

    before: Before = "definitions"
    instructions: bool = True
    place: Literal["", "system", "user", "description"] = ""
    most: int = 0
    few: int = 0
    always: str = ""
    hides_app_tools: bool = False
    first_page: bool = False
    empty_ends: bool = False
    ends: bool = False
    costs: tuple[Literal["page", "endless", "cursor", "noise"], ...] = ()


class SearchRule(Struct, frozen=True, forbid_unknown_fields=True):
    """How the client searches. `ranker` is one of Toolsight's that follows the rule; empty if it has none.

    `results` is how many tools a search loads; they are called `through` this tool, or directly (""). `none`
    says why there is no ranker.
    """

    ranker: str = ""
    results: int = 5
    none: str = ""
    through: str = ""


class ResultLimit(Struct, frozen=True, forbid_unknown_fields=True):
    """Of a text of more than `over` units the model gets `kept` of them; `rest` is what becomes of the rest.

    Of those that are kept, so many are the text's `tail`. How many are kept may not be known (None). A tool's
    `_meta` may name another limit by `changed_by`.
    """

    over: int
    unit: Literal["character", "byte", "token"] = "character"
    kept: int | None = None
    tail: int = 0
    rest: str = "the rest is cut"
    changed_by: str = ""


class ResultRule(Struct, frozen=True, forbid_unknown_fields=True):
    """What becomes of a tool's result; of the `limits`, the first that it is over is the one that counts.

    `structured` content `replaces` the text of a result that is no error, is `ignored`, goes with `both`, or
    reaches the model only if there is no text (`no text`). A result that does not fit its output schema is
    sent as any other (`nothing`), becomes an `error`, or ends the `run`. Kinds of content in `left_out` never
    reach the model. The text of an `error` has a sign of the API (`flag`) or of the client's (`words`), none
    (`plain`), is `hidden`, or ends the `run`. A call ends after `seconds`, whatever the transport (0: none is
    known to). What is not known is "".
    """

    structured: Literal["", "replaces", "ignored", "both", "no text"] = ""
    misfit: Literal["", "nothing", "error", "run"] = ""
    error: Literal["", "flag", "words", "plain", "hidden", "run"] = ""
    seconds: int = 0
    left_out: tuple[str, ...] = ()
    limits: tuple[ResultLimit, ...] = ()


def written_table(head: str, values: Mapping[str, Any]) -> Iterator[str]:
    """A table of a client's file, in TOML; what is empty is left out."""
    yield f"\n{head}"
    for key, value in values.items():
        if value not in _EMPTY:
            yield f"{key} = {_toml(value)}"


_EMPTY: tuple[Any, ...] = ("", [], (), None)


def _key(key: str) -> str:
    return key if key.replace("_", "").isalnum() and key.isascii() else json.dumps(key)


def _toml(value: Any) -> str:
    """A value of TOML. JSON of texts, numbers and lists of them is TOML, but for one control character."""
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        known = (f"{_key(key)} = {_toml(one)}" for key, one in value.items() if one is not None)
        return f"{{ {', '.join(known)} }}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
