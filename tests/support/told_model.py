"""A model that gives prepared answers."""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from inspector.core.error import ModelError
from inspector.core.message import ModelChunk, ModelReply, ModelRequest, TextDelta, ToolCall
from inspector.schema.schema import PLAIN

Step = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


class ToldModel:
    """Answers with the given steps in order, thinks when asked to, and keeps what it was sent."""

    name, label, api_base, window, features = "told", "told (a test)", "", 32_000, PLAIN

    def __init__(self, *steps: Step) -> None:
        self.steps = list(steps)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        self.requests.append(request)
        if request.think:
            yield says("I think about it.")
            return
        step = self.steps.pop(0) if self.steps else says("nothing left to say")
        if isinstance(step, ModelError):
            yield TextDelta("half an ")
            raise step
        reply = step if isinstance(step, ModelReply) else step(request)
        if reply.text:
            yield TextDelta(reply.text)
        yield reply


def says(text: str) -> ModelReply:
    return ModelReply(text)


def calls(*pairs: tuple[str, Mapping[str, Any]], error: str = "") -> ModelReply:
    requested = tuple(ToolCall(f"c{i}", name, arguments, error) for i, (name, arguments) in enumerate(pairs))
    return ModelReply("", requested, finish_reason="tool_calls")


def searches(**arguments: Any) -> ModelReply:
    return calls(("search_tools", arguments))
