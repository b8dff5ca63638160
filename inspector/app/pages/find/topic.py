"""What the right half of the page is about."""

from dataclasses import dataclass

from inspector.core.ranking import Hit, SearchReport, SearchRequest


@dataclass(frozen=True, slots=True)
class Topic:
    """A request with its report, the hit under the cursor, and the person's own tool, "" if none is named."""

    request: SearchRequest = SearchRequest()
    report: SearchReport | None = None
    hit: Hit | None = None
    tool_id: str = ""
