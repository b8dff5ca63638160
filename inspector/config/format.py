"""What a configuration file may contain, whosever it is: Toolsight's own, strictly checked, or a client's."""

from collections.abc import Mapping
from itertools import chain
from typing import Annotated, Any, Literal

from msgspec import Struct, field
from pydantic import AfterValidator, Field, create_model

from inspector.config.client_format import (
    CLIENT_KEYS,
    SECTIONS,
    EntryFault,
    entry_faults,
    is_inner,
    named,
    owner_of,
    place_of,
    read_keys,
    rule_of,
    translated,
)
from inspector.config.problem import Strict, refusal
from inspector.config.setting import KnobKind, knobs_of
from inspector.core.access import ServerRule
from inspector.core.settings import DiscoverySettings, Settings
from inspector.core.text import closest, one_line, shortened
from inspector.schema.json_value import as_object

_DAY = 24 * 60 * 60
_Seconds = Annotated[float, Field(gt=0, le=_DAY)]


_DISCOVERY = (
    *("enabled", "defer_all", "max_search_results", "max_limit", "ranker", "embedding_model"),
    *("min_probability", "min_closest", "iso_threshold"),
    *("expert_tools", "system_servers", "evaluation"),
)
_TYPES: Mapping[KnobKind, Any] = {
    KnobKind.SWITCH: bool,
    KnobKind.COUNT: int,
    KnobKind.NUMBER: float,
    KnobKind.TEXT: str,
    KnobKind.LIST: list[str],
}
_FIELDS: dict[str, Any] = {
    knob.path: (Annotated[_TYPES[knob.kind], Field(ge=knob.low, le=knob.high)] | None, None)
    for knob in knobs_of(DiscoverySettings)
    if knob.path in _DISCOVERY
}
DISCOVERY = create_model("Discovery", __base__=Strict, **_FIELDS)
"""The `tool_discovery` section: settings with their bounds; None means Toolsight's default."""


class OAuthModel(Strict):
    """The `oauth` of a server, with the names that Claude Code has for some of it."""

    clientId: str = ""  # noqa: N815 - the format's own name
    clientSecret: str = ""  # noqa: N815
    clientMetadataUrl: str = Field("", pattern="^(https://[^/]+/.+)?$")  # noqa: N815
    method: Literal["none", "client_secret_basic", "client_secret_post"] | None = None
    issuer: str = ""
    scopes: str = ""
    callbackPort: int = Field(0, ge=0, le=65_535)  # noqa: N815
    grant: Literal["authorization_code", "client_credentials", "jwt_bearer"] = "authorization_code"
    privateKey: str = ""  # noqa: N815
    algorithm: Literal["RS256", "ES256"] = "RS256"
    assertion: str = ""
    assertionFile: str = ""  # noqa: N815
    idpTokenUrl: str = ""  # noqa: N815
    idpClientId: str = ""  # noqa: N815
    idpClientSecret: str = ""  # noqa: N815
    authServerMetadataUrl: str = Field("", description="Toolsight discovers it.")  # noqa: N815


MOST_PHRASES, LONGEST_PHRASE = 500, 200


def _checked_phrases(given: dict[str, str]) -> dict[str, str]:
    """The phrases, each side on one line."""
    if len(given) > MOST_PHRASES:
        raise refusal(f"has {len(given):,} phrases, and may have {MOST_PHRASES}", "Keep those of most use.")
    phrases = {one_line(said): one_line(meaning) for said, meaning in given.items()}
    for text in chain(phrases, phrases.values()):
        if not 0 < len(text) <= LONGEST_PHRASE:
            long = f"has “{shortened(text, 40)}”, {len(text):,} characters long"
            hint = f"Write what people say, and what it means: 1 to {LONGEST_PHRASE} characters each."
            raise refusal(long if text else "has an empty text", hint)
    return phrases


class ServerModel(Strict):
    """One entry of `mcpServers`. Timeouts are in seconds."""

    command: str = ""
    args: list[str] = Field(
        default_factory=list, description="Write a list in brackets, with each argument as a separate string."
    )
    env: dict[str, str] = Field(default_factory=dict)
    envFile: str = ""  # noqa: N815 - VS Code's and Cursor's name
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    oauth: OAuthModel | None = None
    type: Literal["stdio", "http", "streamable-http", "sse"] | None = None
    defer_loading: bool = False
    tags: list[str] = Field(default_factory=list)
    phrases: Annotated[dict[str, str], AfterValidator(_checked_phrases)] = Field(default_factory=dict)
    connect_timeout: _Seconds | None = None
    call_timeout: _Seconds | None = None
    era: Literal["legacy", "2026-07-28", "auto"] | None = None
    trust_annotations: bool = False


class RuleModel(Strict):
    """A server's rule in a toolset: `include` or `exclude`, never both."""

    include: list[str] | None = None
    exclude: list[str] | None = None


class ToolsetModel(Strict):
    """One entry of `tool_sets`. A server's rule is `true` or a RuleModel; the reader distinguishes them."""

    description: str = ""
    servers: dict[str, Any]
    always_include: list[str] | None = None


class FileModel(Strict):
    """A whole file without the client's own keys; `settings` and `tool_discovery` are checked apart."""

    profile: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    tool_discovery: dict[str, Any] | None = None
    mcpServers: dict[str, ServerModel] = Field(default_factory=dict)  # noqa: N815 - the format's own name
    tool_sets: dict[str, ToolsetModel] = Field(default_factory=dict)


# A file is in Toolsight's own format if it has `tool_discovery`, `tool_sets`, `profile`, `settings`, or a
# server with one of Toolsight's own keys; an unknown key in it is an error. Any other file belongs to a
# client (Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI, …); its other keys are
# ignored.

_OWN_TOP = frozenset(FileModel.model_fields) - set(SECTIONS)
# Clients have similar keys of their own (userSettings, profiles), so only a shorter key is a misspelling.
_MISSPELLED = 0.85
_OWN_SERVER = frozenset({"defer_loading", "connect_timeout", "call_timeout", "era", "trust_annotations"})
SETTING_SECTIONS = Settings.__struct_fields__
_URL_KEYS = ("httpUrl", "serverUrl")
_CLIENT_TOP = frozenset({"$schema", "inputs", "models", "clients", "namespace_tools"})


class Form(Struct, frozen=True):
    """A file in Toolsight's own form. `all_names` includes the disabled servers.

    `ignored` are the keys that were left out: one may be a misspelling. `faults` are by server what its
    client refuses or does not read; `rules` say which of a server's tools the client gives its model.
    """

    data: dict[str, Any]
    section: str
    all_names: tuple[str, ...] = ()
    inputs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    faults: Mapping[str, tuple[EntryFault, ...]] = field(default_factory=dict)
    rules: Mapping[str, ServerRule] = field(default_factory=dict)


def normalised(data: Mapping[str, Any], client: str = "") -> Form:
    """Detect whose file it is, if not `client`'s, and leave out its own keys and the disabled servers."""
    place, lists = place_of(data), as_object(data.get("mcp"))
    # Gemini CLI lists the servers that it starts apart from their entries.
    allowed = rule_of({"includeTools": lists.get("allowed"), "excludeTools": lists.get("excluded")})
    section = place[-1]
    data = data if len(place) == 1 else data[place[0]]
    servers = data.get(section, {})
    if is_list := isinstance(servers, list):
        servers = named(servers) or servers
    # Vibe has a list where Codex has tables, and other keys in it.
    form = f"{section}[]" if is_list and section not in SECTIONS else section
    is_own = not is_list and section in SECTIONS and _is_own(data, servers)
    top = {
        key: value
        for key, value in data.items()
        if key != section
        and section in SECTIONS
        and ((key in _OWN_TOP and _is_ours(key, value)) or (is_own and key not in _CLIENT_TOP))
    }
    if not isinstance(servers, dict):
        return Form({**top, "mcpServers": servers}, section)
    raw = {name: entry for name, entry in servers.items() if not is_inner(form, entry)}
    entries = {
        name: translated(form, entry) if isinstance(entry, dict) else entry for name, entry in raw.items()
    }
    objects = {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    owner = owner_of(form, client)
    read = {name: read_keys(owner, raw[name]) for name in objects}
    off = {
        name
        for name, entry in read.items()
        if entry.get("disabled") is True or entry.get("enabled") is False or not allowed.permits(name)
    }
    enabled = {name: _server(entry, is_own) for name, entry in entries.items() if name not in off}
    listed = data.get("inputs")
    return Form(
        {**top, "mcpServers": enabled},
        section,
        all_names=tuple(entries),
        inputs={
            str(entry["id"]): entry
            for entry in (listed if isinstance(listed, list) else ())
            if isinstance(entry, dict) and "id" in entry
        },
        ignored=tuple(key for key in data if key != section and key not in top),
        faults={
            name: tuple(entry_faults(owner, raw[name] if owner else entry, ServerModel.model_fields))
            for name, entry in objects.items()
            if not is_own and name not in off
        },
        rules={name: rule for name, entry in read.items() if (rule := rule_of(entry)) != ServerRule()},
    )


def _is_own(data: Mapping[str, Any], servers: object) -> bool:
    """Whether the file is in Toolsight's format; a misspelled key counts, so that it is reported."""
    if any(_means(key, _OWN_TOP) and _is_ours(key, value) for key, value in data.items()):
        return True
    entries = servers.values() if isinstance(servers, dict) else ()
    return any(key in _OWN_SERVER for entry in entries if isinstance(entry, dict) for key in entry)


def _means(key: str, names: frozenset[str]) -> bool:
    near = closest(key, names, cutoff=_MISSPELLED)
    return key not in _CLIENT_TOP and any(len(key) <= len(name) for name in near)


def _is_ours(key: str, value: object) -> bool:
    """Whether the key is Toolsight's: a client may have `settings` of something else."""
    if key != "settings" or not isinstance(value, dict) or not value:
        return True
    return any(closest(name.partition(".")[0], SETTING_SECTIONS, cutoff=_MISSPELLED) for name in value)


def _server(entry: Any, is_own: bool) -> Any:
    if not isinstance(entry, dict):
        return entry
    known = ServerModel.model_fields
    kept = {key: value for key, value in entry.items() if key in known or (is_own and key not in CLIENT_KEYS)}
    for key in _URL_KEYS:
        if key in entry:
            kept.setdefault("url", entry[key])
    return kept if is_own else _client_values(kept)


def _client_values(entry: dict[str, Any]) -> dict[str, Any]:
    """The entry as clients read it: numbers are allowed in `env`, and nulls are ignored."""
    env = entry.get("env")
    if isinstance(env, dict):
        entry["env"] = {name: _as_text(value) for name, value in env.items() if value is not None}
    return {key: value for key, value in entry.items() if value is not None}


def _as_text(value: object) -> object:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value
