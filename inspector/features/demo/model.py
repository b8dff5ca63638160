"""A model that needs no key and is no LLM, as it says itself: it plans by rules."""

import re
from collections.abc import AsyncIterator

from inspector.core.message import ModelChunk, ModelRequest, TextDelta
from inspector.schema.schema import SCRIPTED

WINDOW = 128_000


class DemoPlanner:
    """Stands in for a language model by rules alone. It keeps no state: the request determines the reply."""

    name = "demo/planner"
    label = "demo/planner (rules, no LLM)"
    api_base = ""
    features = SCRIPTED

    def __init__(self, window: int | None = None) -> None:
        self.window = window or WINDOW

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield the text in pieces, then the reply. Never raises."""
        # What it needs is imported with the first request.
        from inspector.features.demo.planner import decide

        reply = decide(request)
        for piece in re.findall(r"\S+\s*|\s+", reply.text):
            yield TextDelta(piece)
        yield reply


def model(name: str, window: int | None) -> DemoPlanner | None:
    """The planner, if that is the name."""
    return DemoPlanner(window) if name == DemoPlanner.name else None
