"""What `search_tools` says about itself to a model, and what it lets the model choose."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Matching = Literal["words", "meaning", "both", "spelling", "pattern"]
"""What a ranker compares."""

_HOW: Mapping[Matching, str] = {
    "words": "Uses keyword matching.",
    "meaning": "Matches by meaning.",
    "both": "Matches words and meaning.",
    "spelling": "Matches by spelling and forgives typing errors.",
}
_TASK = "(e.g. 'create a calendar event')"
_FIT = "Only tools that fit at least so well."
_SERVER = "What the server is about that has the tool (e.g. 'calendars and meetings')."
_PATTERN = "A regular expression that names and descriptions have to match (e.g. 'calendar.*event')."


@dataclass(frozen=True, slots=True)
class SearchOffer:
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
            "query": _text(self._query(advisory=advisory)),
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

    def _query(self, *, advisory: bool) -> str:
        if self.matching == "pattern":
            return _PATTERN
        what = (
            "What the tool has to do, in natural language"
            if advisory
            else "Natural language capability search"
        )
        return f"{what} {_TASK}. {_HOW[self.matching]}"


def _text(about: str) -> dict[str, Any]:
    return {"type": "string", "description": about}


def _texts(about: str, values: tuple[str, ...] = ()) -> dict[str, Any]:
    items: dict[str, Any] = {"type": "string", "enum": list(values)} if values else {"type": "string"}
    return {"type": "array", "items": items, "description": about}
