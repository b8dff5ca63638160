"""Real MCP clients (agents, editors, APIs): what each makes of a server's tools, and who says so.

What is known of a client are facts, each with its source and its confidence. Rules are what Toolsight makes
of them: they can be applied to a catalog, and are as sure as the weakest fact they rest on.
"""

import datetime
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import StrEnum
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, ValidationError, convert, json as fast_json, to_builtins
from msgspec.structs import replace

from inspector.clients import rule
from inspector.clients.rule import (
    HttpRule,
    ListingRule,
    NameRule,
    ResultRule,
    SchemaRule,
    SearchRule,
    TextRule,
)
from inspector.config.file import MEGABYTE, read_text
from inspector.core.error import ConfigError
from inspector.core.redaction import replacing
from inspector.core.settings import ClientCapabilities

STALE_AFTER = datetime.timedelta(days=60)
"""Clients change monthly: an older fact has to be looked up again."""
_LARGEST_FILE = MEGABYTE


class Confidence(StrEnum):
    """How sure a fact is, the surest first."""

    MEASURED = "measured"
    DOCUMENTED = "documented"
    OPEN_SOURCE = "open source"
    REPORTED = "reported by third parties"
    ASSUMED = "assumed"

    @property
    def told(self) -> str:
        """It in words; only the client's own requests, documentation and source verify a fact."""
        return f"{self}, unverified" if self in (Confidence.REPORTED, Confidence.ASSUMED) else str(self)


class Topic(StrEnum):
    """What a fact is about."""

    LISTING = "listing"
    CUTS = "cuts"
    SCHEMAS = "schemas"
    NAMES = "names"
    DEFERRAL = "deferral"
    SEARCH = "search"
    PROTOCOL = "protocol"
    HTTP = "http"
    RESULTS = "results"
    TASKS = "tasks"


class ClientKind(StrEnum):
    """What sort of program a client is."""

    AGENT = "coding agent"
    APP = "editor or app"
    FRAMEWORK = "framework"
    API = "API"


_SENT = frozenset({Topic.NAMES, Topic.CUTS, Topic.SCHEMAS})


class Fact(Struct, frozen=True, forbid_unknown_fields=True):
    """What somebody says of a client. `source` is a public address; empty for an assumption or a measurement.

    `date` (YYYY-MM-DD) is when it was `dated`: published, committed, looked up or measured. `version`,
    `platform` and `model` are those it was seen with, as far as it says so. `request` names what shows a
    measured fact: the request and where in it. A `remark` is worth knowing, but no rule rests on it.
    """

    topic: Topic
    says: str
    confidence: Confidence
    source: str = ""
    date: str = ""
    dated: Literal["published", "committed", "looked up", "measured", ""] = ""
    version: str = ""
    platform: str = ""
    model: str = ""
    request: str = ""
    remark: bool = False

    def __post_init__(self) -> None:
        if self.date:
            datetime.date.fromisoformat(self.date)

    def is_stale(self, today: datetime.date) -> bool:
        """Whether it is so old that the client may have changed since; an assumption has no age."""
        return bool(self.date) and today - datetime.date.fromisoformat(self.date) > STALE_AFTER

    def evidence(self, today: datetime.date) -> str:
        """Its confidence, what it was seen with and when, and whether it is stale, for people."""
        told = [f"{self.confidence}{', a remark' if self.remark else ''}", self.seen_with]
        if self.date:
            dated = f"{self.dated} " if self.dated != self.confidence else ""
            told.append(f"{dated}{self.date}{', stale' if self.is_stale(today) else ''}")
        return "; ".join(filter(None, (*told, self.request)))

    @property
    def seen_with(self) -> str:
        """The version, the platform and the model it was seen with; "" if it does not say."""
        return ", ".join(filter(None, (self.version, self.platform, self.model)))


class Fidelity(Struct, frozen=True, forbid_unknown_fields=True):
    """How near Toolsight comes to what the client sent: so many of its definitions are the `same`.

    That is name, description and schema, on servers that were made to be hard: a golden run. `tokens` are
    those of the same 14 tools in each client (o200k, compact JSON of what it sends as chat completions have
    it); 0 if they were not counted.
    """

    same: int
    of: int
    version: str
    date: str
    tokens: int = 0

    def __str__(self) -> str:
        return f"{self.same:,} of {self.of:,}"

    @property
    def told(self) -> str:
        """It in a sentence."""
        return f"Toolsight gives {self} definitions as version {self.version} sent them ({self.date})."


class Client(Struct, frozen=True, forbid_unknown_fields=True):
    """A client, its rules and the facts behind them.

    `declares` is what it says of itself when it connects, with its name; `follows_changes` is whether it
    lists tools again when a server says that they changed, `news_reach` whether its model then gets them in
    the same session, `keeps_lists` whether it keeps a list for longer than its server says it may. `protocol`
    is the newest revision it asks for; "" if that is not known. `tasks` is whether it calls a tool that runs
    only as a task. None is what nobody knows.
    """

    name: str
    title: str
    about: str
    names: NameRule
    texts: TextRule
    schemas: SchemaRule
    listing: ListingRule
    search: SearchRule
    declares: ClientCapabilities
    facts: tuple[Fact, ...]
    kind: ClientKind = ClientKind.AGENT
    http: HttpRule = HttpRule()
    results: ResultRule = ResultRule()
    follows_changes: bool = False
    news_reach: bool | None = None
    keeps_lists: bool | None = None
    fidelity: Fidelity | None = None
    protocol: str = ""
    tasks: bool | None = None

    def over(self, tools: int) -> "Client":
        """The client as it is over so many tools: it binds few at once."""
        if not self.listing.few or tools > self.listing.few:
            return self
        return replace(self, listing=replace(self.listing, before="definitions", instructions=False))

    def confidence(self, topic: Topic) -> Confidence:
        """How sure the rules of a topic are: as the weakest fact behind them; assumed without any."""
        fact = self.behind(topic)
        return Confidence.ASSUMED if fact is None else fact.confidence

    def sure(self, topic: Topic) -> str:
        """How sure the rules of a topic are, in words: of what is sent, how much of it they give."""
        found = self.confidence(topic)
        is_shown = self.fidelity is not None and topic in _SENT and found.told == found
        return f"{self.fidelity} as sent" if is_shown else found.told

    def behind(self, topic: Topic) -> Fact | None:
        """The fact on which the rules of a topic rest, the weakest; None if one is assumed, or none."""
        order = list(Confidence)
        behind = (fact for fact in self.facts if fact.topic is topic and not fact.remark)
        found = max(behind, key=lambda fact: order.index(fact.confidence), default=None)
        return None if found is None or found.confidence is Confidence.ASSUMED else found


_REMARK = "remark"
_RULES: Mapping[str, Any] = {"names": {}, "texts": {}, "schemas": {}, "listing": {}, "search": {}}
_NOTHING = ClientCapabilities(roots=False, forms=False, links=False, tasks=False)
NAMES = (
    *("claude-code", "codex", "gemini-cli", "copilot-cli", "opencode", "qwen-code", "cline-cli"),
    *("continue-cli", "kimi-code", "droid", "vibe", "openhands", "fast-agent", "gptme", "goose"),
    *("claude-desktop", "vscode", "cursor", "jetbrains-copilot", "chatgpt", "windsurf", "cline"),
    *("kiro", "zed"),
    *("openai-agents", "openai-agents-js", "pydantic-ai", "langchain", "langchain-js", "google-adk"),
    *("strands", "smolagents", "llama-index", "semantic-kernel", "agent-framework", "crewai"),
    *("mcp-use", "dspy", "vercel-ai", "mastra", "google-genai-js"),
    *("anthropic-bm25", "anthropic-regex", "openai-api", "openai-strict", "anthropic-api"),
    *("gemini-api", "gemini-json-schema", "none"),
)
"""The known clients in display order, by kind; `none` binds everything, as a host without any rule does."""
_CHOSEN = NAMES[NAMES.index("openai-api") + 1 :]


def all_clients() -> tuple[Client, ...]:
    """Every known client."""
    return tuple(_known().values())


def real_clients() -> tuple[Client, ...]:
    """Every known client but the host without any rule, and the APIs in a form that their caller chooses."""
    return tuple(client for client in all_clients() if client.name not in _CHOSEN)


def find_client(name: str) -> Client:
    """The client of that name or file (.toml). Raises ConfigError with all names for any other."""
    if name in NAMES:
        return _known()[name]
    if name.endswith(".toml"):
        return read_client(name, read_text(Path(name), "client", limit=_LARGEST_FILE))
    *named, none = NAMES
    hint = f"Choose from: {', '.join(named)}, or {none} (binds every tool)."
    raise ConfigError(f"no client '{name}'", hint=hint)


def client_name(declared: str) -> str:
    """The name of the known client that calls itself so when it connects; of any other, what it says."""
    return next((one.name for one in real_clients() if one.declares.name == declared), declared)


@cache
def _known() -> Mapping[str, Client]:
    """The known clients by name, in display order.

    They are kept beside this module as compiled, since to read their TOML takes forty times as long.
    """
    files = {name: Path(__file__).with_name("known") / f"{name}.toml" for name in NAMES}
    sources = (Path(__file__), Path(str(rule.__file__)), *files.values())
    state = [(one.stat().st_mtime_ns, one.stat().st_size) for one in sources]
    kept = Path(cache_from_source(__file__)).with_suffix(".json")
    with suppress(OSError, ValueError):
        of, known = fast_json.decode(kept.read_bytes(), type=tuple[list[tuple[int, int]], dict[str, Client]])
        if of == state:
            return known
    known = {name: read_client(name, file.read_text(encoding="utf-8")) for name, file in files.items()}
    if not sys.dont_write_bytecode:
        with suppress(OSError), replacing(kept, "wb") as file:
            file.write(fast_json.encode((state, known)))
    return known


def read_client(name: str, text: str) -> Client:
    """A client from its file's TOML. Raises ConfigError for anything else.

    A measured client has a table for each fact, and in `[every_fact]` what is the same in all of them. A
    known one has lines: in `[sources]` the confidence, the address ("" if we measured it), what was done
    when, with which version, platform and model; in `[facts]`, by topic, the source ("" for none), what it
    says, and more if need be. A condition names its source with `by`.
    """
    try:
        data = tomllib.loads(text)
        every, facts, sources = data.pop("every_fact", {}), data.pop("facts", []), data.pop("sources", {})
        for condition in data.get("schemas", {}).get("conditions", []):
            if "by" not in condition:
                continue
            _confidence, condition["source"], when, *_with = sources[condition.pop("by")]
            condition["date"] = when.rsplit(" ", 1)[1]
        if isinstance(facts, dict):
            facts = list(_lines(facts, sources))
        facts = [{**every, **fact} for fact in facts]
        declares = {**to_builtins(_NOTHING), "tasks": data.get("tasks", False), **data.pop("declares", {})}
        found = {**_RULES, **data, "name": name, "declares": declares, "facts": facts}
        return convert(found, Client)
    except (tomllib.TOMLDecodeError, ValidationError, TypeError, ValueError, KeyError) as error:
        raise ConfigError(f"'{name}' is not the file of a client", hint=str(error)) from error


def _lines(facts: dict[str, Any], sources: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The facts of a known client, from its lines."""
    for topic, lines in facts.items():
        for source, says, *more in lines:
            fact: dict[str, Any] = {"topic": topic, "says": says, "confidence": Confidence.ASSUMED}
            if source:
                confidence, address, when, *with_ = sources[source]
                dated, date = when.rsplit(" ", 1)
                fact |= {"confidence": confidence, "source": address, "dated": dated, "date": date}
                fact |= zip(("version", "platform", "model"), with_, strict=False)
            for one in more:
                fact |= {"remark": True} if one == _REMARK else one
            yield fact


class Kind(StrEnum):
    """What becomes of tools, in words for several servers; those above `UNSURE` cost a tool altogether."""

    UNREACHED = "it cannot be reached"
    LOST = "definitions cannot be read"
    PAGE = "later pages are not read"
    NAME_REFUSED = "names are refused"
    SCHEMA_REFUSED = "tools are refused"
    UNSURE = "whether it can be reached is not known"
    TASK = "tools that run only as a task cannot be called"
    MISFIT = "results that do not fit are lost"
    HIDDEN = "tools for a view alone are hidden"
    MOST = "not all tools can be on"
    TWIN = "names are equal"
    NAME_CUT = "names are shortened"
    INSTRUCTIONS_HIDDEN = "its instructions are not shown"
    INSTRUCTIONS_CUT = "instructions are cut"
    CUT = "descriptions are cut"
    SCHEMA = "schemas change"
    KEPT = "a changed list is not seen"
    SILENT = "some tools have no description to be found by"
    SHOWN = "the model gets tools for a view alone"
    UNKNOWN = "what becomes of it is not known"
    RENAMED = "names are changed"
    SPARE = "schemas change in what no call needs"

    @property
    def topic(self) -> Topic:
        """What the rule behind it is about."""
        return next((topic for topic, kinds in _TOPICS.items() if self in kinds), Topic.LISTING)


_TOPICS = {
    Topic.PROTOCOL: (Kind.UNREACHED, Kind.UNSURE, Kind.KEPT),
    Topic.NAMES: (Kind.NAME_REFUSED, Kind.TWIN, Kind.NAME_CUT, Kind.RENAMED),
    Topic.SCHEMAS: (Kind.SCHEMA_REFUSED, Kind.SCHEMA, Kind.SPARE),
    Topic.TASKS: (Kind.TASK,),
    Topic.RESULTS: (Kind.MISFIT,),
    Topic.CUTS: (Kind.INSTRUCTIONS_CUT, Kind.CUT),
    Topic.SEARCH: (Kind.SILENT,),
}
KEEPS_OUT = frozenset({Kind.UNREACHED, Kind.LOST, Kind.PAGE, Kind.NAME_REFUSED, Kind.SCHEMA_REFUSED})
"""What keeps a tool from the model, although it is meant for one."""
HARMLESS = frozenset({Kind.HIDDEN, Kind.RENAMED, Kind.SPARE})
"""What takes nothing from a model."""


class Change(Struct, frozen=True):
    """What becomes of a tool: in words, and where in its definition that lies (`inputSchema.required`).

    `source` and `date` are those of the rule, if it names its own. It may cost all tools of the server.
    """

    kind: Kind
    says: str
    place: str = ""
    source: str = ""
    date: str = ""
    costs_server: bool = False

    def __str__(self) -> str:
        return self.says
