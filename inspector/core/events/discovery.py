"""Events of discovery: catalogs, searches, the gate, the marketplace, loads, refreshes, evictions."""

from typing import ClassVar, Literal

from msgspec import Struct

from inspector.core.events.base import Actor, Event, Group
from inspector.core.marketplace import MarketplaceReport
from inspector.core.number import count, percent, signed
from inspector.core.ranking import Answer, IndexPhase, IndexState, SearchOffer, SearchReport

# `gone`: its server no longer lists it; `changed`: its server changed it, and the model only read of it as it
# was; `toolset`: the toolset in use does not permit it; `window`: a request has no room for it.
EvictionCause = Literal["ttl", "lru", "loop", "gone", "changed", "toolset", "access", "hand", "window"]
# `inertia`: nobody asked for it, but it is likely to be called next; empty in older and imported records.
LoadCause = Literal["search", "hand", "inertia", ""]


class SearchPerformed(Event, frozen=True, kind="search", groups={Group.SEARCHES}):
    """A search with its scores. `text` is what the model reads."""

    derived: ClassVar[tuple[str, ...]] = ("answer",)
    report: SearchReport
    text: str
    by: Actor = "model"

    def summary(self) -> str:
        results = self.report.results
        score = "" if self.report.unscored or not results else f" {results[0].score.value:.2f}"
        label, answer = self.report.request.label(), self.answer
        if not results:
            return f"{label} -> {self.report.error or answer}"
        unsure = "" if answer is Answer.FOUND else f"{answer} "
        return f"{label} -> {unsure}{len(results)}, best {results[0].tool_id}{score}"

    @property
    def answer(self) -> Answer:
        """What the search says."""
        return self.report.answer


class RedundantSearch(
    Event, frozen=True, kind="redundant", groups={Group.SEARCHES, Group.GUARDS}, tone="warning"
):
    """A search that brought little or nothing new.

    Either `earlier` had found the share `overlap` (0 to 1) of its results, or it is the last of `in_a_row`
    searches that found no tool to call; `earlier` is then empty and `overlap` None.
    """

    query: str
    earlier: str
    overlap: float | None
    note: str
    in_a_row: int = 0

    @property
    def why(self) -> str:
        """What was seen: `80 % already found by “orders”`."""
        if self.overlap is None:
            return f"{self.in_a_row} searches in a row found no tool to call"
        return f"{percent(self.overlap)} already found by {self.earlier}"

    def summary(self) -> str:
        return f"{self.query}  {self.why}"


class GateScore(Struct, frozen=True):
    """One tool at the gate: its score and the preconditions that do not hold."""

    tool: str
    score: float
    unmet: tuple[str, ...] = ()


class GateApplied(Event, frozen=True, kind="gate", groups={Group.GUARDS}):
    """The gate selected the tools of a model call (Tool Attention, section 5.7).

    `call` is the model call it was for. `candidates` are all scores over `threshold` in order; `active` are
    those that are bound, `gated_out` those that a precondition keeps out; `below` counts the tools under it.
    `query_hash` identifies the query's vector or, while there is none, its text. Phase 1 of a request are the
    `pool_tokens` of the resident summaries, phase 2 the `tokens` of the definitions. `milliseconds` is the
    latency, `p50_milliseconds` its median over the session so far.
    """

    query: str
    active: tuple[str, ...]
    candidates: tuple[GateScore, ...]
    threshold: float
    below: int
    tokens: int
    milliseconds: float
    note: str = ""
    call: int = 0
    query_hash: str = ""
    gated_out: tuple[str, ...] = ()
    pool_tokens: int = 0
    p50_milliseconds: float = 0.0

    def summary(self) -> str:
        best = f", best {self.candidates[0].tool} {self.candidates[0].score:.2f}" if self.candidates else ""
        closed = sum(bool(one.unmet) for one in self.candidates)
        kept_out = f", {closed} blocked by preconditions" if closed else ""
        full = len(self.candidates) - closed - len(self.active)
        no_room = f", {full} more" if full > 0 else ""
        return f"{len(self.active)} over {self.threshold:g}{best}{no_room}, {self.below} below{kept_out}"


class ToolLoaded(Event, frozen=True, kind="load", groups={Group.SEARCHES}, tone="success"):
    """A tool was bound. `place` is its rank among those the same search bound, from 1; 0 if none found it.

    `tokens` is 0 if nobody knows its definition. `cause` is for programs, `reason` for people.
    """

    tool: str
    tokens: int
    reason: str
    place: int = 0
    cause: LoadCause = ""

    def summary(self) -> str:
        size = f"  {signed(self.tokens)}" if self.tokens else ""
        return f"{self.tool}{size}  {self.reason}"


class Guess(Struct, frozen=True):
    """A tool that may be called next: its share of the calls after another one, and how low it may be."""

    tool: str
    probability: float
    low: float = 0.0
    count: int = 0


class NextPredicted(Event, frozen=True, kind="predict", groups={Group.SEARCHES}, tone="muted"):
    """What may be called after a tool, of the tools that were not called yet, most likely first.

    `preloaded` are those of them that were bound ahead: none below `threshold`, none that
    was seen too seldom, and none without room.
    `tasks` is how many tasks of the `persona` the prediction rests on. Whether it came true is in the calls
    that follow: see `core.fold.call`.
    """

    after: str
    predicted: tuple[Guess, ...]
    threshold: float
    preloaded: tuple[str, ...] = ()
    persona: str = ""
    tasks: int = 0

    @property
    def is_routine(self) -> bool:
        return not self.preloaded

    def summary(self) -> str:
        said = ", ".join(f"{one.tool} {one.probability:.2f}" for one in self.predicted)
        bound = f"; bound ahead: {', '.join(self.preloaded)}" if self.preloaded else ""
        return f"after {self.after}: {said or 'nothing'}{bound}"


class ToolRefreshed(Event, frozen=True, kind="refresh", groups={Group.SEARCHES}):
    """An already bound tool was found again and counts as just used."""

    tool: str
    reason: str

    def summary(self) -> str:
        return f"{self.tool}  found again by {self.reason}"


class ToolEvicted(Event, frozen=True, kind="evict", groups={Group.GUARDS}, tone="warning"):
    """A tool was evicted. `cause` is empty in records of older versions; `reason` is for people."""

    tool: str
    reason: str
    cause: EvictionCause | Literal[""] = ""

    def summary(self) -> str:
        return f"{self.tool}  {self.reason}"


class CatalogEntry(Struct, frozen=True):
    """A permitted tool in the catalog event; `tokens` counts its definition."""

    id: str
    tokens: int
    deferred: bool


class CatalogBuilt(Event, frozen=True, kind="catalog", groups={Group.SERVERS}):
    """The catalog after the toolset filter, and the manifest that advertises it.

    `pool` holds the summaries of all tools if the gate keeps them in the prompt. `rules` say how the manifest
    was shortened. With `advisory` the search finds tools that are already bound. `decision` says whether
    discovery is on, and by which numbers. `held` are permitted tools that are not in the catalog because
    their server is away, but whose binding, uses and times are kept until it is back. `instructions` are
    those of the servers, if the model gets them, and `offer` is what `search_tools` says of itself.
    Nobody knows the definitions, and so the tokens, of `uncounted` tools: a transcript may hold names alone.
    """

    toolset: str
    entries: tuple[CatalogEntry, ...]
    manifest: str
    meta_tokens: int
    static_tokens: int
    hidden: int = 0
    pool: str = ""
    pool_tokens: int = 0
    advisory: bool = False
    rules: tuple[str, ...] = ()
    decision: str = ""
    held: tuple[str, ...] = ()
    instructions: str = ""
    offer: SearchOffer = SearchOffer()
    uncounted: int = 0

    def summary(self) -> str:
        deferred = sum(entry.deferred for entry in self.entries)
        toolset = f"toolset {self.toolset}: " if self.toolset else ""
        tools, static = count(len(self.entries), "tool"), count(self.static_tokens, "token")
        held = f", {len(self.held):,} held" if self.held else ""
        unknown = f", excluding {self.uncounted:,} of unknown size" if self.uncounted else ""
        return f"{toolset}{tools}, {deferred:,} deferred, {static} if static{unknown}{held}"


class CatalogTold(Event, frozen=True, kind="catalog_told", groups={Group.SERVERS, Group.MODEL}, tone="muted"):
    """The model got `text` at the end of its conversation: these servers are not what it knew."""

    servers: tuple[str, ...]
    text: str

    def summary(self) -> str:
        return f"the model about the tools of {', '.join(self.servers)}"


class ClientListed(Event, frozen=True, kind="listed", groups={Group.SERVERS, Group.MODEL}):
    """A client was listed these tools in place of all that are permitted.

    The tokens are those of the entries as they were sent, in compact JSON; a client adds what it likes.
    """

    tools: int
    tokens: int
    all_tools: int
    all_tokens: int

    def summary(self) -> str:
        own = f"{count(self.tools, 'tool')}, {count(self.tokens, 'token')}"
        return f"{own}, in place of {count(self.all_tools, 'tool')}, {count(self.all_tokens, 'token')}"


class IndexChanged(Event, frozen=True, kind="index", groups={Group.SERVERS}):
    """The search index made progress or failed."""

    index: IndexState

    @property
    def is_routine(self) -> bool:
        """Progress is; an end is not."""
        return self.index.phase in (IndexPhase.DOWNLOADING, IndexPhase.LOADING, IndexPhase.EMBEDDING)

    def summary(self) -> str:
        index = self.index
        texts = f"{index.embedded:,} of {count(index.total, 'text')}"
        return f"{index.phase}  {texts}  {index.reason or index.model}"


class MarketplaceSearched(Event, frozen=True, kind="marketplace", groups={Group.SEARCHES}):
    """A search went on in the marketplace. `text` is what the model reads of it; nothing is loaded."""

    report: MarketplaceReport
    text: str
    by: Actor = "model"

    def summary(self) -> str:
        found = self.report.suggestions
        best = f", best {found[0].plugin} {percent(found[0].similarity)}" if found else ""
        return f"“{self.report.query}” ({self.report.why}) -> {count(len(found), 'plugin')}{best}"


class PluginInstalled(Event, frozen=True, kind="installed", groups={Group.SERVERS}, tone="success"):
    """A person installed a plugin: its server is connected. `file` is "" if it is for this session alone.

    `command` is what was started, or the address; `backup` is the file as it was before.
    """

    plugin: str
    server: str
    version: str
    command: str
    file: str = ""
    backup: str = ""
    by: Actor = "user"

    def summary(self) -> str:
        where = f"in {self.file}" if self.file else "for this session"
        return f"{self.plugin} as {self.server}  {where}  {self.command}"


class InstallFailed(
    Event, frozen=True, kind="uninstalled", groups={Group.SERVERS, Group.ERRORS}, tone="error"
):
    """A plugin was not installed; the session and the file are as they were."""

    plugin: str
    server: str
    reason: str
    hint: str = ""
    stderr_tail: str = ""

    def summary(self) -> str:
        return f"{self.plugin} was not installed: {self.reason}"


class ServerRemoved(Event, frozen=True, kind="removed", groups={Group.SERVERS}):
    """A server left the session for good; `file` is the configuration that it left, too."""

    server: str
    file: str = ""
    backup: str = ""
    by: Actor = "user"

    def summary(self) -> str:
        return f"{self.server}  {f'from {self.file}' if self.file else 'from this session'}"
