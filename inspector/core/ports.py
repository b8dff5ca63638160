"""What a session uses of the outside, as interfaces: servers, models, counters, people, time."""

import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from inspector.core.budget import Prices, Tokenizer
from inspector.core.definition import DefinitionChange
from inspector.core.error import ModelError
from inspector.core.events import Decision as Decision
from inspector.core.message import ModelChunk, ModelRequest
from inspector.core.number import byte_size, count
from inspector.core.server import Leftover, SkippedTool
from inspector.core.tool import Tool
from inspector.schema.dialect import ModelFeatures
from inspector.schema.json_value import JsonObject


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model of a local server: litellm's name for it, and the server's address.

    `size` is in bytes and `window` in tokens; both are None, and `parameters` is "", if the server does not
    report them.
    """

    name: str
    api_base: str
    server: str
    size: int | None = None
    parameters: str = ""
    window: int | None = None

    @property
    def about(self) -> str:
        """Its server and what that reports of it."""
        reported = (
            self.parameters and f"{self.parameters} parameters",
            f"window {count(self.window, 'token')}" if self.window else "",
        )
        return ", ".join(filter(None, (self.server, *reported)))

    @property
    def size_text(self) -> str:
        return byte_size(self.size) if self.size else ""


@dataclass(frozen=True, slots=True)
class ToolListing:
    """A server's usable tools, and the skipped tools and pages with the reason."""

    tools: tuple[Tool, ...]
    skipped: tuple[SkippedTool, ...] = ()


class ChatModel(Protocol):
    """A language model, or a stand-in that identifies itself as one."""

    @property
    def name(self) -> str:
        """The name by which it was requested, e.g. `openai/gpt-5`."""

    @property
    def label(self) -> str:
        """The name shown to people; a stand-in says that it is not an LLM."""

    @property
    def api_base(self) -> str:
        """The configured address; "" for its provider's own."""

    @property
    def window(self) -> int:
        """The context window in tokens."""

    @property
    def features(self) -> ModelFeatures:
        """What its provider takes beyond a plain request."""

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """Yield text deltas as they arrive, then exactly one ModelReply. Raises ModelError."""


class LocalModels(Protocol):
    """The model servers on this machine. They are asked only when somebody wants to know."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that are looked for, and where."""

    def find(self) -> AsyncGenerator[tuple[LocalModel, ...]]:
        """Yield the models of each server as it answers; ends soon, whatever answers or does not."""

    def open(self, found: LocalModel) -> ChatModel:
        """A model that was found."""


class NoLocalModels:
    """Looks for no server."""

    servers: tuple[str, ...] = ()

    async def find(self) -> AsyncGenerator[tuple[LocalModel, ...]]:
        """Find nothing."""
        no_models: tuple[tuple[LocalModel, ...], ...] = ()
        for models in no_models:
            yield models

    def open(self, found: LocalModel) -> ChatModel:
        """Raises ModelError."""
        raise ModelError(f"{found.name} cannot be used here", hint="Specify a model instead.")


class TokenCounter(Protocol):
    """Counts tokens for one model."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def count(self, text: str) -> int: ...

    def lengths(self, text: str) -> Sequence[int]:
        """The number of bytes of each token, in order; they add up to the text's length in UTF-8.

        A lone surrogate counts as the question mark sent in its place.
        """


class PriceList(Protocol):
    """The prices of models."""

    def prices(self, model: str) -> Prices | None:
        """The prices of a model by its litellm name, or None if unlisted. Never uses the network."""


class Leftovers(Protocol):
    """What the servers of earlier runs left running. All of it may take seconds, and belongs in a thread."""

    def find(self) -> tuple[Leftover, ...]:
        """What runs of runs that have ended, oldest first. A run that is alive looks after its own."""

    def end(self, chosen: Sequence[Leftover]) -> tuple[Leftover, ...]:
        """End their processes, and return what is still there. Only what is certainly theirs is signalled."""

    def keep(self, chosen: Sequence[Leftover]) -> None:
        """Leave them alone, and find them no more."""


class Clock(Protocol):
    """`now` is in seconds since 1970, UTC; `monotonic` measures durations."""

    def now(self) -> float: ...

    def monotonic(self) -> float: ...


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that may make changes and needs approval first.

    `changes` is what differs from the definition that was approved before. `offers_trust` says that
    `Decision.SERVER` is an answer too: nothing but the server's claim speaks for the call being harmless, and
    nothing speaks against it.
    """

    tool: Tool
    arguments: JsonObject
    why: str
    changes: tuple[DefinitionChange, ...] = ()
    offers_trust: bool = False


class Approver(Protocol):
    """Asks the user, and waits as long as the answer takes."""

    async def ask(self, request: ApprovalRequest) -> Decision: ...


OwnPredicate = Callable[..., bool]
"""Called as `own(facts, *args, **kwargs)`; must return True or False."""


class SystemClock:
    """Wall time for records, monotonic time for durations; both in seconds."""

    def now(self) -> float:
        return time.time()

    def monotonic(self) -> float:
        return time.monotonic()
