"""A model that replays a written scenario, for demos and tests. It is not an LLM and says so."""

from collections.abc import AsyncIterator
from pathlib import Path

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
from inspector.scenario.file import load_scenario
from inspector.scenario.scenario import Step
from inspector.schema.dialect import PLAIN

WINDOW = 128_000
OVER = "The script is over and has no answer to this. Start a new session to replay it."
THOUGHT = "Let me think about what to do differently."


class ScriptModel:
    """Replays a scenario. The request alone determines the next step, so it keeps no state."""

    api_base = ""
    features = PLAIN

    def __init__(self, path: Path) -> None:
        self.name = f"demo/script:{path}"
        self.label = f"demo/script:{path.name} (scripted, no LLM)"
        self.scenario = load_scenario(path)
        self.window = self.scenario.window or WINDOW

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield the scenario's next step, or a note that the script is over. Thinking takes no step."""
        turn, index = _position(request.messages)
        step = self._step(turn, index)
        said = (step.think or THOUGHT) if request.think else step.say
        for line in said.splitlines(keepends=True):
            yield TextDelta(line)
        calls = () if request.think else _calls(step, turn, index)
        yield ModelReply(said, calls, finish_reason="tool_calls" if calls else "stop")

    def _step(self, turn: int, index: int) -> Step:
        turns = self.scenario.turns
        if 0 <= turn < len(turns) and index < len(turns[turn]):
            return turns[turn][index]
        return Step(OVER)


def _calls(step: Step, turn: int, index: int) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(f"script-{turn}-{index}-{number}", call.name, call.arguments)
        for number, call in enumerate(step.calls)
    )


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
