"""The planner as a model: its rules are imported with the first request."""

import re
from collections.abc import AsyncIterator

from inspector.core.message import ModelChunk, ModelRequest, TextDelta
from inspector.schema.dialect import PLAIN

WINDOW = 128_000


class DemoPlanner:
    """Stands in for a language model by rules alone. It keeps no state: the request determines the reply."""

    name = "demo/planner"
    label = "demo/planner (rules, no LLM)"
    api_base = ""
    window = WINDOW
    features = PLAIN

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield the text in pieces, then the reply. Never raises."""
        from inspector.demo.planner.planner import decide

        reply = decide(request)
        for piece in re.findall(r"\S+\s*|\s+", reply.text):
            yield TextDelta(piece)
        yield reply
