"""A model that plays a scenario; it is no LLM, as it says itself."""

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
from inspector.features.lab.scenario import Step, load_scenario
from inspector.schema.schema import PLAIN

WINDOW = 128_000
OVER = "The script is over and has no answer to this. Start a new session to replay it."
THOUGHT = "Let me think about what to do differently."
_PREFIX = "demo/script:"


class ScriptModel:
    """Replays a scenario. The request alone determines the next step, so it keeps no state."""

    api_base = ""
    features = PLAIN

    def __init__(self, path: Path, window: int | None = None) -> None:
        """`window` is used in place of the scenario's, in tokens."""
        self.name = f"{_PREFIX}{path}"
        self.label = f"{_PREFIX}{path.name} (scripted, no LLM)"
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

    def _step(self, turn: int, index: int) -> Step | None:
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


def model(name: str, window: int | None) -> ScriptModel | None:
    """What plays the file that the name ends with. Raises ConfigError if the file is no scenario."""
    return ScriptModel(Path(name.removeprefix(_PREFIX)), window) if name.startswith(_PREFIX) else None
