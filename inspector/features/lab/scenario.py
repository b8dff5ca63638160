"""A scenario: what is said, answered and made to fail, on which settings, and what must happen.

It is read from a file (YAML); every error names the file, the line and the key. A model plays it.
"""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, Field, PlainValidator, model_validator

from inspector.access.policy_file import load_yaml
from inspector.config.problem import NullAsAbsent, not_empty, refusal, validated
from inspector.config.reader import read_profile, read_settings
from inspector.core.error import (
    CallTimeout,
    ConfigError,
    ProtocolError,
    RateLimited,
    ServerExited,
    ToolsightError,
)
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
from inspector.core.tool import wire_name
from inspector.features.lab.expectation import Expectation, expectation
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import SCRIPTED
from inspector.tokens.manifest import SEARCH_TOOLS


def _sendable(value: Any) -> dict[str, Any]:
    """Check that JSON can hold the value: YAML reads an unquoted day as a date, which cannot be sent."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise refusal("must be an object whose keys are strings", "Write it as {key: value}.")
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        hint = "Put dates in quotes; leave out numbers that are not finite."
        raise refusal(f"has a value that JSON cannot represent ({error})", hint) from error
    return value


def _expectation(value: Any) -> Expectation:
    if isinstance(value, Expectation):
        return value
    try:
        return expectation(_sendable(value))
    except ConfigError as error:
        raise refusal(f"cannot be checked: {error.message}", error.hint) from error


def _as_sent(name: str) -> str:
    server, colon, tool = name.partition(":")
    return wire_name(server, tool) if colon else name


_Seconds = Annotated[
    float, Field(ge=0, le=1e9, allow_inf_nan=False, description="Write a number of seconds from 0 to 1e9.")
]
_Window = Annotated[int, Field(ge=1, le=10**9, description="Write a whole number of tokens from 1 to 1e9.")]
# pydantic's own stripping rejects a lone surrogate, which a scenario may contain on purpose.
_Text = Annotated[str, AfterValidator(str.strip)]
_Needed = Annotated[_Text, AfterValidator(not_empty)]
_Arguments = Annotated[dict[str, Any], PlainValidator(_sendable)]
_Item = TypeVar("_Item")
# A list in a file, which nobody can change later.
_Many = Annotated[tuple[_Item, ...], Field(strict=False)]


class _Entry(NullAsAbsent):
    """A part of a scenario, as it is written in a file."""

    model_config = ConfigDict(frozen=True)


class ScriptedCall(_Entry):
    """A call within a step. A file names the `tool` as `server:NAME`; it is kept as it is sent."""

    tool: Annotated[
        _Needed, AfterValidator(_as_sent), Field(description=f"Write server:NAME, or {SEARCH_TOOLS}.")
    ]
    arguments: _Arguments = Field(default_factory=dict)


class Step(_Entry):
    """One model call: what the model says and which tools it calls.

    `think` is its answer if it has to think before this step; `wait` is how many seconds it takes to answer.
    """

    say: _Text = ""
    calls: _Many[ScriptedCall] = ()
    think: _Text = ""
    wait: _Seconds = 0.0

    @model_validator(mode="after")
    def _answers(self) -> "Step":
        if not self.say and not self.calls:
            raise refusal("has neither say nor calls", "Add what the model says, what it calls, or both.")
        return self


class AddedTool(_Entry):
    """A tool added to a server. Calling it returns `answer`, or an error without one."""

    id: Annotated[_Needed, Field(description="Write server:NAME.")]
    description: _Text = ""
    answer: _Text = ""


class CatalogChange(_Entry):
    """A change to one server's tools: ids to `remove`, tools to `add`, new descriptions, new parameters."""

    server: Annotated[_Needed, Field(description="Name the server whose tools change.")]
    remove: _Many[_Text] = ()
    add: _Many[AddedTool] = ()
    describe: dict[str, _Text] = Field(default_factory=dict)
    parameters: dict[str, Annotated[JsonObject, PlainValidator(_sendable)]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _is_of_one_server(self) -> "CatalogChange":
        prefix = f"{self.server}:"
        for tool_id in (*self.remove, *(tool.id for tool in self.add), *self.describe, *self.parameters):
            if not tool_id.startswith(prefix) or tool_id == prefix:
                raise refusal(f"has {tool_id}, which is not a tool of {self.server}", f"Write {prefix}NAME.")
        return self


class Fault(_Entry):
    """The next `times` calls of a server, or of its tool, fail like this."""

    server: Annotated[_Needed, Field(description="Name the server whose next calls fail.")]
    kind: Annotated[
        Literal["timeout", "transport", "rate_limit", "protocol"],
        Field(description="Write timeout, transport, rate_limit or protocol."),
    ]
    times: Annotated[int, Field(ge=1, le=1000, description="Write how many calls fail, from 1 to 1000.")] = 1
    tool: Annotated[_Text, Field(description="Name the one tool whose calls fail.")] = ""
    retry_after: _Seconds | None = None

    def error(self, tool: str) -> ToolsightError:
        """What a call of the tool fails with."""
        hint = "The scenario lets it fail."
        match self.kind:
            case "timeout":
                return CallTimeout(f"{tool} did not return in time", hint=hint)
            case "rate_limit":
                message = f"{self.server} wants fewer requests"
                return RateLimited(message, hint=hint, retry_after=self.retry_after)
            case "protocol":
                return ProtocolError(f"{tool}: invalid answer", hint=hint)
            case "transport":
                return ServerExited(f"{self.server} closed the connection", hint=hint)


class Viewer(_Entry):
    """Whom the session is seen as from now on: a user of the policy, through an expert if one is named."""

    user: Annotated[_Needed, Field(description="Name a user from access.policy.")]
    expert: Annotated[_Text, Field(description="Name an expert from access.policy.")] = ""


class Turn(_Entry):
    """What the user says, the model's steps for it, and what happens before, in this order.

    Another session begins, as somebody else sees it.
    Seconds pass, settings change (values by path), a milestone is reached, a server is stopped, a server's
    tools change (at once, or when it is back), a server is connected again, a server's next calls fail, a
    plugin of the marketplace is installed, a server is removed: the scenario's author stands for the person.
    """

    user: Annotated[_Needed, Field(description="Write what the user says in this turn.")]
    wait: _Seconds = 0.0
    milestone: _Text = ""
    stop: Annotated[_Text, Field(description="Name the server that goes away before this turn.")] = ""
    change: CatalogChange | None = None
    reconnect: Annotated[_Text, Field(description="Name the server that comes back before this turn.")] = ""
    fault: Fault | None = None
    install: Annotated[_Text, Field(description="Name the plugin to install before this turn.")] = ""
    uninstall: Annotated[_Text, Field(description="Name the server to remove before this turn.")] = ""
    see_as: Viewer | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    steps: Annotated[_Many[Step], Field(min_length=1, description="Write a list of the model's answers.")]


class Scenario(_Entry):
    """What happens in each turn, and what must come of it.

    `settings` are values by setting path that override the profile. The events in `expect` must occur in that
    order, those in `never` must not occur. `window` is the scripted model's window in tokens, 0 for one that
    never fills.
    """

    title: _Text = ""
    about: _Text = ""
    profile: _Text = ""
    settings: dict[str, Any] = Field(default_factory=dict)
    window: _Window = 0
    turns: Annotated[
        _Many[Turn], Field(min_length=1, description="Write a list of turns with `user` and `steps`.")
    ]
    expect: _Many[Annotated[Expectation, PlainValidator(_expectation)]] = ()
    never: _Many[Annotated[Expectation, PlainValidator(_expectation)]] = ()

    @property
    def users(self) -> tuple[str, ...]:
        """What the user says, turn by turn."""
        return tuple(turn.user for turn in self.turns)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The model's steps in all turns."""
        return tuple(step for turn in self.turns for step in turn.steps)


def load_scenario(path: Path) -> Scenario:
    """Read a scenario file. Raises ConfigError that names the file, the line and the key."""
    data, place = load_yaml(path, "scenario")
    read = validated(Scenario, data, place)
    turns = (turn.model_copy(update={"settings": read_settings(path, turn.settings)}) for turn in read.turns)
    return read.model_copy(
        update={
            "title": read.title or path.stem,
            "profile": read_profile(path, read.profile) if read.profile else "",
            "settings": read_settings(path, read.settings),
            "turns": tuple(turns),
        }
    )


WINDOW = 128_000
OVER = "The script is over and has no answer to this. Start a new session to replay it."
THOUGHT = "Let me think about what to do differently."
_PREFIX = "demo/script:"


class ScriptModel:
    """Replays a scenario. The request alone determines the next step, so it keeps no state."""

    api_base = ""
    features = SCRIPTED

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
