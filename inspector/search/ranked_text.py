"""A search's matches as a ranked list with scores and when to use each (the ToolSearchTool document).

    Best tools for 'fetch a specific URL' (ranked by relevance):
    1. web:open_url (score=0.4217) — Fetch a URL.
       ↳ when to use: …

That document takes the second line from a tool's prompt instructions. MCP has none: here it is the sentences
of the description that say when to use the tool, and it is left out where there are none.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from inspector.core.ranking import SearchReport
from inspector.core.settings import ResultForm
from inspector.core.summary_pool import first_sentence, one_line, sentences, shortened
from inspector.core.tool import Tool
from inspector.search.text import NOW_LOADED, found_text, no_room_text

_DESCRIPTION, _USE = 200, 300
_ABOUT_USE = re.compile(
    r"^(?:(?:please|always|only|do not|don't|never|you should|you must|must)\s+)*"
    r"(?:use|call|prefer|choose|invoke|run)\b"
    r"|^(?:useful|ideal|best|suitable|intended|meant|helpful|perfect|recommended)\b"
    r"|^when(?:ever)?\b"
    r"|\buse (?:this|it)\b"
    r"|\b(?:should|must|can) be used (?:when|for|to|if)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^[-*•]\s*")


@dataclass(frozen=True, slots=True)
class Match:
    """A match as it is listed: what it does, when to use it, and its score."""

    name: str
    description: str
    when_to_use: str
    score: float

    @classmethod
    def of(cls, tool: Tool, score: float) -> "Match":
        described = first_sentence(tool.description) or one_line(tool.description)
        return cls(tool.id, shortened(described, _DESCRIPTION), when_to_use(tool.description), score)


def when_to_use(description: str) -> str:
    """The sentences after the first that say when to use a tool, on one line; empty if there are none."""
    _, *rest = [_BULLET.sub("", sentence) for sentence in sentences(description)] or [""]
    # A sentence that ends with a colon only announces a list.
    said = [sentence for sentence in rest if _ABOUT_USE.search(sentence) and not sentence.endswith(":")]
    return shortened(" ".join(said), _USE)


def matches_text(
    report: SearchReport,
    loaded: Sequence[Tool],
    already: Sequence[Tool],
    no_room: Sequence[Tool] = (),
    *,
    form: ResultForm,
) -> str:
    """The matches in the form the settings ask for; what was listed without a ranking has no scores."""
    tools = {tool.id: tool for tool in (*loaded, *already, *no_room)}
    is_ranking = bool(report.request.query.strip()) and not report.request.tool_names
    if form != "ranked" or not tools or not is_ranking:
        return found_text(loaded, already, no_room, brief=form == "brief")
    ranked = [Match.of(tools[hit.tool_id], hit.score.value) for hit in report.hits if hit.tool_id in tools]
    parts = [ranked_text(report.request.query, ranked)]
    parts += [NOW_LOADED] if loaded and not no_room else []
    parts += [no_room_text(no_room)] if no_room else []
    return "\n\n".join(parts)


def metadata(report: SearchReport, tools: Mapping[str, Tool]) -> dict[str, Any]:
    """The results as that document's structured output, for programs."""
    matches = [
        Match.of(tools[hit.tool_id], hit.score.value) for hit in report.results if hit.tool_id in tools
    ]
    return {
        "query": report.request.query,
        "limit": report.limit,
        "total_candidates": report.scored,
        "matches": [
            {
                "name": match.name,
                "description": match.description,
                "prompt_instructions": match.when_to_use,
                "score": match.score,
            }
            for match in matches
        ],
    }


def ranked_text(query: str, matches: Sequence[Match]) -> str:
    """The matches, best first, as a numbered list."""
    lines = [f"Best tools for '{one_line(query)}' (ranked by relevance):"]
    for rank, match in enumerate(matches, start=1):
        described = f" — {match.description}" if match.description else ""
        lines.append(f"{rank}. {match.name} (score={match.score:.4f}){described}")
        if match.when_to_use:
            lines.append(f"   ↳ when to use: {match.when_to_use}")
    return "\n".join(lines)
