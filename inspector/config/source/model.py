"""What a configuration file may contain, as pydantic models: strict types and no other keys."""

from typing import Annotated, Any, Literal

from pydantic import Field

from inspector.config.problem import Strict

_DAY = 24 * 60 * 60
_Seconds = Annotated[float, Field(gt=0, le=_DAY)]


class DiscoveryModel(Strict):
    """The `tool_discovery` section; None means Toolsight's default."""

    enabled: bool | None = None
    defer_all: bool | None = None
    max_search_results: Annotated[int, Field(ge=1, le=100)] | None = None
    max_limit: Annotated[int, Field(ge=1, le=100)] | None = None
    ranker: str | None = None
    embedding_model: str | None = None
    min_probability: Annotated[float, Field(ge=0, le=1)] | None = None
    min_closest: Annotated[float, Field(ge=0, le=1)] | None = None
    iso_threshold: Annotated[float, Field(ge=-1, le=1)] | None = None
    token_bonus: Annotated[float, Field(ge=0, le=10)] | None = None
    fuzzy_floor: Annotated[float, Field(ge=0, le=10)] | None = None
    expert_tools: list[str] | None = None
    system_servers: list[str] | None = None
    evaluation: list[str] | None = None


class ClientModel(Strict):
    """What is declared to one server instead of the settings `client`."""

    roots: bool | None = None
    roots_changes: bool | None = None
    forms: bool | None = None
    links: bool | None = None
    sampling: bool | None = None
    name: str | None = None
    version: str | None = None


class ServerModel(Strict):
    """One entry of `mcpServers`. Timeouts are in seconds."""

    command: str = ""
    args: list[str] = Field(
        default_factory=list, description="Write a list in brackets, with each argument as a separate string."
    )
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict)
    type: Literal["stdio", "http", "streamable-http"] | None = None
    defer_loading: bool = False
    tags: list[str] = Field(default_factory=list)
    connect_timeout: _Seconds | None = None
    call_timeout: _Seconds | None = None
    era: Literal["legacy", "2026-07-28", "auto"] | None = None
    trust_annotations: bool = False
    client_capabilities: ClientModel | None = None


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
    """A whole file without the client's own keys. The values in `settings` are checked elsewhere."""

    profile: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    tool_discovery: DiscoveryModel | None = None
    mcpServers: dict[str, ServerModel] = Field(default_factory=dict)  # noqa: N815 - the format's own name
    tool_sets: dict[str, ToolsetModel] = Field(default_factory=dict)
