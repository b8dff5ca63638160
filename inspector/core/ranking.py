"""Search results and their scores with the parts that explain them; what a search offers."""

import math
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.core.number import percent


class IndexPhase(StrEnum):
    """Searches work in every phase; before READY some tools are matched by words alone."""

    OFF = "words only"
    DOWNLOADING = "downloading the model"
    LOADING = "loading the model"
    EMBEDDING = "embedding"
    READY = "ready"
    STOPPED = "stopped"
    FAILED = "failed"


class IndexState(Struct, frozen=True):
    """`embedded` of `total` texts (several per tool) have a vector from `model`; `reason` says what failed.

    During a download both count bytes.
    """

    phase: IndexPhase = IndexPhase.OFF
    model: str = ""
    embedded: int = 0
    total: int = 0
    reason: str = ""
    hint: str = ""


Matching = Literal["words", "meaning", "both", "spelling", "pattern", "keywords"]
"""What a ranker compares; `keywords` are the words of the PRD's own search."""

_HOW: Mapping[Matching, str] = {
    "words": "Uses keyword matching.",
    "meaning": "Matches by meaning.",
    "both": "Matches words and meaning.",
    "spelling": "Matches by spelling and forgives typing errors.",
}
_QUERY = (
    "What one tool has to do, in the words of an interface: verb, object, data; one need at a time "
    "(e.g. 'create a calendar event')."
)
_FIT = "Only tools that fit at least so well."
_SERVER = "What the server is about that has the tool (e.g. 'calendars and meetings')."
_AS_THEY_ARE: Mapping[Matching, str] = {
    "pattern": "A regular expression that names and descriptions have to match (e.g. 'calendar.*event').",
    # As the PRD has it.
    "keywords": "Natural language capability search (e.g. 'create a calendar event'). Uses keyword matching.",
}


class SearchOffer(Struct, frozen=True):
    """How searches match, and what a model may choose: tags, the most results, how well they must fit.

    No tags and 0 results: it may choose neither. With `server_query` it may describe the server apart.
    """

    matching: Matching = "both"
    domains: tuple[str, ...] = ()
    limit: int = 0
    similarity: bool = False
    server_query: bool = False

    def parameters(self, *, advisory: bool = False) -> dict[str, Any]:
        """The schema of the arguments (PRD section 2.3); with `advisory` every tool is loaded already."""
        properties = {
            "query": _text(self.query),
            "server_name": _text(
                "Only tools of this server." if advisory else "Filter results to a specific server by name."
            ),
            "tool_names": _texts(
                "Only the tools of exactly these names."
                if advisory
                else "Load specific tools by exact name. "
                "Most token-efficient when you know the tool name from the manifest."
            ),
        }
        if self.domains:
            properties["domain"] = _texts("Only tools with all of these tags.", self.domains)
        if self.limit:
            about = f"How many tools to return, at most {self.limit}."
            properties["limit"] = {"type": "integer", "description": about}
        if self.similarity:
            properties["min_similarity"] = {"type": "number", "minimum": 0, "maximum": 1, "description": _FIT}
        if self.server_query:
            properties["server_query"] = _text(_SERVER)
        return {"type": "object", "properties": properties}

    @property
    def query(self) -> str:
        """How a model is to word a query: rewordings that were asked for so find more."""
        return _AS_THEY_ARE.get(self.matching) or f"{_QUERY} {_HOW[self.matching]}"


def _text(about: str) -> dict[str, Any]:
    return {"type": "string", "description": about}


def _texts(about: str, values: tuple[str, ...] = ()) -> dict[str, Any]:
    items: dict[str, Any] = {"type": "string", "enum": list(values)} if values else {"type": "string"}
    return {"type": "array", "items": items, "description": about}


TOLERANCE = 1e-9
USED_BEFORE = "used before"
"""The term of what past use adds, which says how often and by whom."""
READ_LIKE = "similar query"
"""What the phrasebook adds: the phrase that a request is read like, and what that means."""


class Signal(StrEnum):
    """The source of a part of a score; the value is the letter shown for it."""

    NAME = "N"
    DESCRIPTION = "D"
    PARAMETERS = "P"
    SERVER = "V"
    WORDS = "W"
    SEMANTIC = "S"
    KEYWORD = "K"
    FUZZY = "F"
    PATTERN = "R"
    FUSION = "U"
    EXACT = "X"
    TIER = "T"
    PHRASE = "B"
    STEP = "Q"
    HISTORY = "H"  # In records of sessions that counted past requests.
    AFFINITY = "Y"
    UNASKED = "Z"
    AVERAGE = "A"


class Part(Struct, frozen=True, gc=False):
    """One part of a score: its signal, term, value, and the inputs it was computed from."""

    signal: Signal
    term: str
    value: float
    inputs: Mapping[str, float] = field(default_factory=dict)


class Score(Struct, frozen=True, gc=False):
    """A tool's score for a query. The parts add up to `value`; otherwise the explanation is wrong."""

    tool_id: str
    value: float
    parts: tuple[Part, ...] = ()

    def adds_up(self) -> bool:
        return math.isclose(math.fsum(part.value for part in self.parts), self.value, abs_tol=TOLERANCE)


class Answer(StrEnum):
    """What a search says: a tool clearly fits, these come closest, or nothing does."""

    FOUND = "found"
    CLOSEST = "closest"
    NOTHING = "nothing"


UNSERVED: Final = {Answer.CLOSEST: "no tool clearly fits", Answer.NOTHING: "no tool fits"}
"""What an answer that is not sure says, in words."""


class Outcome(StrEnum):
    """What happened to a scored tool."""

    LOADED = "loaded"
    ALREADY_LOADED = "already loaded"
    FOUND = "found"
    CLOSEST = "closest"
    BELOW_FLOOR = "below floor"
    UNLIKELY = "unlikely to fit"
    NOTHING_FITS = "no tool fits"
    OVER_LIMIT = "over limit"
    WITHHELD = "withheld"
    PINNED_FITS = "a pinned tool fits"
    OTHER_SERVER = "other server"
    OTHER_TAG = "other tag"
    PRECONDITION = "precondition not met"

    def __init__(self, value: str) -> None:
        # Whether the search returned the tool: asked of every line of every report, so it is no property.
        self.is_result = value in ("loaded", "already loaded", "found", "closest")


class Hit(Struct, frozen=True, gc=False):
    """One line of a search report: rank from 1, score and outcome."""

    rank: int
    score: Score
    outcome: Outcome

    @property
    def tool_id(self) -> str:
        return self.score.tool_id


class SearchRequest(Struct, frozen=True, gc=False):
    """The arguments of `search_tools` (PRD section 2.3); at least one must be given.

    `tags` restricts the search to tools that have all of them (layered composition, layer 1). `limit` is
    how many results are wanted, 0 if that is left to the settings. `min_similarity` is how well a result has
    to fit, 0 to 1: its probability, or with rankers of meaning its cosine. `server_query` describes the
    server apart from the tool (layer 3, MCP-Zero's request).
    """

    query: str = ""
    server_name: str = ""
    tool_names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int = 0
    min_similarity: float = 0.0
    server_query: str = ""

    @property
    def is_empty(self) -> bool:
        return not (self.query.strip() or self.server_name or self.tool_names or self.tags)

    def label(self) -> str:
        """The request on one line, for people."""
        parts = [f"“{self.query}”"] if self.query else []
        parts += [f"server {self.server_name}"] if self.server_name else []
        parts += [", ".join(self.tool_names)] if self.tool_names else []
        parts += [f"tags {', '.join(self.tags)}"] if self.tags else []
        parts += [f"limit {self.limit}"] if self.limit else []
        parts += [f"fit at least {percent(self.min_similarity)}"] if self.min_similarity else []
        parts += [f"on a server for “{self.server_query}”"] if self.server_query else []
        return "  ".join(parts) or "(no arguments)"


class Unconnected(Struct, frozen=True):
    """A tool of the registry that a search found beyond the session's servers, and that nobody can call.

    `similarity` is its cosine with the query, `origin` where the registry has it from.
    """

    tool_id: str
    description: str
    origin: str
    similarity: float


class SearchReport(Struct, frozen=True, gc=False):
    """A search and its hits, best first. `latency_ms` covers the ranking alone.

    `scored` counts the tools considered; `hits` are the results and the best of the rest. `probability` is
    how likely it is that any tool fits, None if the ranker does not estimate it; `threshold` and
    `closest_threshold` are the least for the answers `found` and `closest`. `note` says what the ranker had
    to do without. Of an `unscored` search only the order is known:
    a real agent's transcript tells no scores, and every score is 0. `unconnected` is told apart from the
    hits: the best first, none of it loaded.
    """

    request: SearchRequest
    ranker: str
    hits: tuple[Hit, ...] = ()
    terms: tuple[str, ...] = ()
    limit: int = 5
    latency_ms: float = 0.0
    error: str = ""
    scored: int = 0
    probability: float | None = None
    threshold: float = 0.0
    closest_threshold: float = 0.0
    note: str = ""
    unscored: bool = False
    unconnected: tuple[Unconnected, ...] = ()

    def outline(self) -> "SearchReport":
        """The report without the parts of its scores, which take most of its memory."""
        hits = (Hit(hit.rank, replace(hit.score, parts=()), hit.outcome) for hit in self.hits)
        return replace(self, hits=tuple(hits))

    @property
    def results(self) -> tuple[Hit, ...]:
        return tuple(hit for hit in self.hits if hit.outcome.is_result)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The tools that destroy something, and were not loaded for that."""
        return tuple(hit.tool_id for hit in self.hits if hit.outcome is Outcome.WITHHELD)

    @property
    def answer(self) -> Answer:
        """What the search says; sessions recorded before there was `closest` said nothing instead."""
        if not self.results:
            return Answer.NOTHING
        is_unsure = self.probability is not None and self.probability < self.threshold
        return Answer.CLOSEST if is_unsure else Answer.FOUND

    @property
    def is_lookup(self) -> bool:
        """Whether names, a server or tags alone answered it: no ranker made its scores."""
        if not self.request.query.strip():
            return True
        if self.terms or not self.request.tool_names:
            return False
        return {part.signal for hit in self.hits for part in hit.score.parts} == {Signal.EXACT}

    @property
    def nothing_fits(self) -> bool:
        """Whether nothing was returned because it is too improbable that any tool fits."""
        is_unsure = self.probability is not None and self.probability < self.threshold
        return is_unsure and self.answer is Answer.NOTHING


# A report keeps its results and this many of the tools that missed; the rest is counted.
MISSES_KEPT = 15
NOT_SHOWN = "not shown"


class Gap(Struct, frozen=True):
    """Ranks from `first` to `last`, which the list leaves out for these reasons."""

    first: int
    last: int
    reasons: tuple[str, ...]

    @property
    def ranks(self) -> str:
        return f"rank {self.first:,}" if self.first == self.last else f"ranks {self.first:,}–{self.last:,}"

    @property
    def reason(self) -> str:
        return ", ".join(self.reasons)

    def joined(self, other: "Gap") -> "Gap":
        """This gap and the one right after it."""
        return Gap(self.first, other.last, tuple(dict.fromkeys((*self.reasons, *other.reasons))))


def with_gaps(hits: Iterable[Hit], is_shown: Callable[[Hit], bool], of: int = 0) -> list[Hit | Gap]:
    """Return the hits to show, by rank, and a gap for the ranks up to `of` that are missing between them."""
    listed: list[Hit | Gap] = []
    last = 0

    def leave_out(gap: Gap) -> None:
        before = listed.pop() if listed and isinstance(listed[-1], Gap) else None
        listed.append(before.joined(gap) if isinstance(before, Gap) else gap)

    for hit in sorted(hits, key=lambda hit: hit.rank):
        if hit.rank > last + 1:
            leave_out(Gap(last + 1, hit.rank - 1, (NOT_SHOWN,)))
        if is_shown(hit):
            listed.append(hit)
        else:
            leave_out(Gap(hit.rank, hit.rank, (hit.outcome.value,)))
        last = hit.rank
    if of > last:
        leave_out(Gap(last + 1, of, (NOT_SHOWN,)))
    return listed
