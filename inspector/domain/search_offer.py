"""What `search_tools` tells a model of itself, and what it lets the model choose."""

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
_PATTERN = "A regular expression that names and descriptions have to match (e.g. 'calendar.*event')."


@dataclass(frozen=True, slots=True)
class SearchOffer:
    """How searches match, the tags a model may narrow them to, and the most results it may ask for.

    No tags and 0 results: it may choose neither.
    """

    matching: Matching = "both"
    domains: tuple[str, ...] = ()
    limit: int = 0

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
            properties["domain"] = _texts("Only tools of servers with all of these tags.", self.domains)
        if self.limit:
            about = f"How many tools to return, at most {self.limit}."
            properties["limit"] = {"type": "integer", "description": about}
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
