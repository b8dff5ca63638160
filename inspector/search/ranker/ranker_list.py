"""Every ranker: its name, its description for people, and its formula. Imports none of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from inspector.core.error import ToolsightError
from inspector.core.ranking import Matching
from inspector.core.text import closest

DENSE, ISO, THREE_TIER = "dense", "iso", "three-tier"


@dataclass(frozen=True, slots=True)
class RankerInfo:
    """What is known of a ranker that is not built; `slow` ones come last.

    `stands_for` says whose search it is or of what kind, then its term of art. One that compares meaning
    alone scores nothing without vectors. One `of_client` is a client's own search, which knows nothing of
    what Toolsight has loaded or pinned.
    """

    name: str
    stands_for: str
    about: str
    formula: str
    slow: bool = False
    matching: Matching = "words"
    of_client: bool = False

    @property
    def uses_vectors(self) -> bool:
        return self.matching in ("both", "meaning")


_LIST = (
    RankerInfo(
        "hybrid",
        "ours: hybrid",
        "exact names, tiers, words, meaning, steps; says when no tool fits",
        "z: .12 BM25F .08 words .16 static .18 summary .46 passage",
        matching="both",
    ),
    RankerInfo(
        "bm25",
        "words only: BM25F",
        "words, by field: name, description, parameters and server",
        "BM25F: Σ idf · 2.5 x / (x + 1.5), x = Σ weight · tf / norm",
    ),
    RankerInfo(
        DENSE,
        "meaning only: cosine",
        "meaning only: the cosine of the query and each tool's summary",
        "cosine of query and summary, at or above a floor",
        matching="meaning",
    ),
    RankerInfo(
        ISO,
        "like Tool Attention: ISO",
        "meaning only, like the gate: cosine of query and summary lines",
        "cosine of query and summary line, at or above a floor",
        matching="meaning",
    ),
    RankerInfo(
        "rrf",
        "rank fusion: RRF",
        "bm25 and dense fused by rank, the standard way to merge two lists",
        "1 / (60 + rank by words) + 1 / (60 + rank by cosine)",
        matching="both",
    ),
    RankerInfo(
        "z-fusion",
        "score fusion: z-scores",
        "bm25 and dense fused by score, without passages",
        "0.30 z(BM25, one field) + 1.00 z(cosine of the summary)",
        matching="both",
    ),
    RankerInfo(
        "two-stage",
        "tool plus server: sum",
        "tool score plus server score: server text and three best tools",
        "cosine + ½ server; server = ½ (its text + its 3 best tools)",
        matching="both",
    ),
    RankerInfo(
        "two-stage-product",
        "server first (MCP-Zero): product",
        "servers first, then their tools; scores are multiplied",
        "(s · t) · max(s, t) on the five best servers",
        matching="both",
    ),
    RankerInfo(
        "three-tier",
        "like Kaman: three tiers",
        "expert tools, system tools, then tools close enough in meaning",
        "2000 + expert, 1000 + system, or cosine at or above a floor",
        matching="both",
    ),
    RankerInfo(
        "keyword-expert",
        "like Kaman's experts: keywords",
        "weighted keywords, as for tools assigned by an expert",
        "100 exact + 50 in the name + 30 keywords + 10 description",
    ),
    RankerInfo(
        "keyword-system",
        "like Kaman's system: keywords",
        "keywords matched in both directions, as for system tools",
        "½ shared / query's words + ½ shared / tool's keywords",
    ),
    RankerInfo(
        "claude-code",
        "like Claude Code: words in steps",
        "whole words of names, parts of them, hints, descriptions",
        "Σ 4 name, 3 within, 2 searchHint or 1 description; then a to z",
        of_client=True,
    ),
    RankerInfo(
        "codex",
        "like Codex: BM25, whole names",
        "bm25 over one text with the server's instructions, names unsplit",
        "BM25, k1 1.2, one text; list_orders is one word",
        of_client=True,
    ),
    RankerInfo(
        "qwen-code",
        "like Qwen Code: parts of names",
        "words in names as they are sent, in the server's name, in descriptions",
        "Σ 12 name's end or 6 name, + 4 server + 2 description; then a to z",
        of_client=True,
    ),
    RankerInfo(
        "droid",
        "like Droid: parts of names",
        "words in names as they are sent, else in descriptions",
        "Σ 10 name or 3 description; then a to z",
        of_client=True,
    ),
    RankerInfo(
        "vibe",
        "like Mistral Vibe: BM25, types",
        "bm25 over the TypeScript of a tool, with its name and description again",
        "BM25, k1 1.2, one text; name, description, server count double",
        of_client=True,
    ),
    RankerInfo(
        "copilot-cli",
        "like Copilot CLI: a pattern",
        "the query as a regular expression, in the name, a description or a parameter",
        "the query as a pattern: name 3, else description 2, else parameter 1",
        matching="pattern",
        of_client=True,
    ),
    RankerInfo(
        "vscode",
        "like VS Code (our model): cosine",
        "meaning of name and description; our model replaces theirs",
        "cosine of query and summary, above zero",
        matching="meaning",
        of_client=True,
    ),
    RankerInfo(
        "anthropic-bm25",
        "like Claude's API (assumed): BM25",
        "words of all fields in one text; constants are assumed",
        "BM25, k1 1.2, one text of name, description, arguments",
        of_client=True,
    ),
    RankerInfo(
        "prd-bm25",
        "from the PRD: BM25Okapi",
        "bm25 over whole words of name and description, as a baseline",
        "BM25Okapi, name and description split at whitespace",
    ),
    RankerInfo(
        "regex",
        "pattern: regex",
        "the query as a regular expression",
        "the query as a pattern: N 3 + V 2 + D 1 + P 0.5",
        matching="pattern",
        of_client=True,
    ),
    RankerInfo(
        "fuzzy",
        "like ToolSearchTool: fuzzy",
        "string similarity of the query and a tool's text",
        "difflib ratio with the whole text + 0.12 for each word in it",
        slow=True,
        matching="spelling",
    ),
)
INFO: Mapping[str, RankerInfo] = {info.name: info for info in _LIST}
RANKERS = tuple(INFO)
"""The names in display order."""


def require_ranker(name: str) -> str:
    """The name of an existing ranker. Raises ToolsightError with the closest names for any other."""
    if name in RANKERS:
        return name
    near = closest(name, RANKERS) or RANKERS
    raise ToolsightError(f"no ranker '{name}'", hint=f"Choose from: {', '.join(near)}.")


def matching(name: str, *, has_vectors: bool) -> Matching:
    """What a ranker compares; without vectors words are all that is left to compare."""
    info = INFO.get(name)
    if info is None:
        return "words"
    return "words" if info.matching == "both" and not has_vectors else info.matching
