"""A run of a real agent as somebody recorded it: what was asked, said, searched for, called and returned."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """A call that the agent made. `tool` and `server` are the recording's names; `server` may be empty.

    `result` is what the agent read, None if the recording has no results.
    """

    tool: str
    arguments: JsonObject = field(default_factory=dict)
    result: str | None = None
    failed: bool = False
    server: str = ""


@dataclass(frozen=True, slots=True)
class RecordedStep:
    """One model call: what the agent said, its own searches for tools, and its calls."""

    text: str = ""
    calls: tuple[RecordedCall, ...] = ()
    searches: tuple[str, ...] = ()

    @property
    def acts(self) -> bool:
        """Whether the agent did anything but talk."""
        return bool(self.calls or self.searches)


@dataclass(frozen=True, slots=True)
class RecordedMessage:
    """What the user said, and the agent's steps for it."""

    text: str
    steps: tuple[RecordedStep, ...]


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A recorded run. `id` is unique in its folder; runs of one `task` are attempts at the same thing.

    `solved` is None if the recording does not say. The tokens are the provider's own counts over all model
    calls of the run, None if it has none. `model` is what the agent ran on, "" if the recording does not say.
    """

    id: str
    task: str
    messages: tuple[RecordedMessage, ...]
    solved: bool | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""

    @property
    def steps(self) -> Iterator[RecordedStep]:
        """The model calls, in order."""
        return (step for message in self.messages for step in message.steps)

    @property
    def calls(self) -> Iterator[RecordedCall]:
        """The agent's calls, in order."""
        return (call for step in self.steps for call in step.calls)
