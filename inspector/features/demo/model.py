"""Models that need no key and are no LLM, as they say themselves: one plans by rules, one plays a scenario.

What they need is imported with the first request, or with the scenario.
"""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.core.message import (
    AssistantMessage,
    Message,
    ModelChunk,
    ModelReply,
    ModelRequest,
    NoteMessage,
    TextDelta,
    ToolCall,
    UserMessage,
)
from inspector.schema.schema import PLAIN

if TYPE_CHECKING:
    from inspector.features.lab.scenario import Step

WINDOW = 128_000
OVER = "The script is over and has no answer to this. Start a new session to replay it."
THOUGHT = "Let me think about what to do differently."


class DemoPlanner:
    """Stands in for a language model by rules alone. It keeps no state: the request determines the reply."""

    name = "demo/planner"
    label = "demo/planner (rules, no LLM)"
    api_base = ""
    features = PLAIN

    def __init__(self, window: int | None = None) -> None:
        self.window = window or WINDOW

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield the text in pieces, then the reply. Never raises."""
        from inspector.features.demo.planner import decide

        reply = decide(request)
        for piece in re.findall(r"\S+\s*|\s+", reply.text):
            yield TextDelta(piece)
        yield reply


class ScriptModel:
    """Replays a scenario. The request alone determines the next step, so it keeps no state."""

    api_base = ""
    features = PLAIN

    def __init__(self, path: Path, window: int | None = None) -> None:
        """`window` is used in place of the scenario's, in tokens."""
        from inspector.features.lab.scenario import load_scenario

        self.name = f"demo/script:{path}"
        self.label = f"demo/script:{path.name} (scripted, no LLM)"
        self.scenario = load_scenario(path)
        self.window = window or self.scenario.window or WINDOW

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield the scenario's next step, or a note that the script is over. Thinking takes no step."""
        turn, index = _position(request.messages)
        step = self._step(turn, index)
        said = step.say if step else OVER
        if request.think:
            said = (step.think if step else "") or THOUGHT
        for line in said.splitlines(keepends=True):
            yield TextDelta(line)
        scripted = step.calls if step and not request.think else ()
        calls = tuple(
            ToolCall(f"script-{turn}-{index}-{number}", call.tool, call.arguments)
            for number, call in enumerate(scripted)
        )
        yield ModelReply(said, calls, finish_reason="tool_calls" if calls else "stop")

    def _step(self, turn: int, index: int) -> "Step | None":
        turns = self.scenario.turns
        if 0 <= turn < len(turns) and index < len(turns[turn].steps):
            return turns[turn].steps[index]
        return None


def _position(messages: tuple[Message, ...]) -> tuple[int, int]:
    """The current turn, and how often the model has answered in it, not counting thoughts.

    Turns that were removed from the conversation count too.
    """
    turn, index = -1, 0
    for message in messages:
        if isinstance(message, NoteMessage):
            turn += message.exchanges
        elif isinstance(message, UserMessage):
            turn, index = turn + 1, 0
        elif isinstance(message, AssistantMessage) and not message.thought:
            index += 1
    return turn, index
