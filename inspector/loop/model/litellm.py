"""Streams any model that litellm supports."""

import asyncio
import logging
import os
import re
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from msgspec import Struct

from inspector.core.error import ModelError
from inspector.core.message import ModelChunk, ModelReply, ModelRequest, TextDelta, ToolMessage, Usage
from inspector.core.prompt_cache import Breakpoints
from inspector.loop.model.error import Asked, broke_off, model_error, no_answer, no_tools, not_processed
from inspector.loop.model.responses import (
    Assembly,
    ResponsesAssembly,
    is_usage_reported,
    responses_body,
    wire_tools,
)
from inspector.schema.json_value import JsonObject
from inspector.schema.schema import PLAIN, ModelFeatures
from inspector.tokens.accounting import model_entry, shipped_models
from inspector.tokens.manifest import text_with, wire_message, wire_system

# Anthropic's documentation, Tool search tool: not Claude Opus 4.1 and earlier models.
_WITHOUT_REFERENCES = re.compile(r"claude-(instant|[23]|(opus|sonnet)-4(-[01])?(-20\d{6})?$)")
# OpenAI's guide, Tool search: gpt-5.4 and later models; litellm lists earlier ones too.
_WITHOUT_TOOL_SEARCH = re.compile(r"gpt-(4|5(\.[0-3])?(-|$))")


def features_of(name: str) -> ModelFeatures:
    """The features of a model.

    Only Anthropic and OpenAI themselves are asked for theirs: whether other providers of the same models take
    them is not tested. Every Claude model takes marks; for references, litellm has to list it.
    """
    entry = model_entry(shipped_models(), name)
    listed, served = entry.get("litellm_provider"), name.rpartition("/")[0]
    if served == "anthropic" or (listed == "anthropic" and not served):
        knows = listed == "anthropic" and not _WITHOUT_REFERENCES.search(name)
        return ModelFeatures(True, "tool_reference" if knows else "", dialect="anthropic")
    if listed == "openai" and served in ("", "openai") and entry.get("supports_tool_search") is True:
        return ModelFeatures(deferral="" if _WITHOUT_TOOL_SEARCH.search(name) else "tool_search")
    return PLAIN


# Requests with what only Claude takes: marks for its prompt cache, deferred definitions and references.

BETA_HEADER = {"anthropic-beta": "advanced-tool-use-2025-11-20"}
"""Tool search went without a header later, but endpoints that want it refuse requests without."""
_NONE = Breakpoints()


def marked_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """The system prompt and the conversation; a plain request's are those of `domain.wire`."""
    marks = request.breakpoints or _NONE
    deferred = {entry["function"]["name"]: entry for entry in request.deferred}
    sent = [wire_system(request.system)] if request.system else []
    if sent and marks.system:
        sent = [_marked(sent[0], marks)]
    beside: list[str] = []
    last = len(request.messages) - 1
    for index, message in enumerate(request.messages):
        wire, text = wire_message(message), ""
        if isinstance(message, ToolMessage) and message.definitions:
            wire, text = _referenced(message, deferred)
        sent.append(wire)
        beside += [text] if text else []
        # Claude wants the results of all calls before any text.
        if beside and (index == last or not isinstance(request.messages[index + 1], ToolMessage)):
            sent.append({"role": "user", "content": "\n\n".join(beside)})
            beside = []
        if index in marks.messages:
            sent[-1] = _marked(sent[-1], marks)
    return sent


def marked_tools(request: ModelRequest) -> list[dict[str, Any]]:
    """The `tools` array with its marks, then the deferred definitions."""
    marks = request.breakpoints or _NONE
    tools = [
        {**entry, "cache_control": _control(marks)} if index in marks.tools else entry
        for index, entry in enumerate(request.tools)
    ]
    return [*tools, *({**entry, "defer_loading": True} for entry in request.deferred)]


def _referenced(message: ToolMessage, deferred: Mapping[str, JsonObject]) -> tuple[dict[str, Any], str]:
    """A result with references to its definitions, and what remains to be said as text.

    A definition that is not declared as it was found cannot be referenced, so it is part of the text.
    """
    named = [(entry["function"]["name"], entry) for entry in message.definitions]
    names = [name for name, entry in named if deferred.get(name) == entry]
    rest = text_with(message.text, [entry for name, entry in named if name not in names])
    if not names:
        return wire_message(message), ""
    blocks = [{"type": "tool_reference", "tool_name": name} for name in names]
    return {"role": "tool", "tool_call_id": message.call_id, "content": blocks}, rest


def _marked(wire: dict[str, Any], marks: Breakpoints) -> dict[str, Any]:
    """A message with a mark on its last block; an empty one cannot have any."""
    if wire["role"] == "tool":
        return {**wire, "cache_control": _control(marks)}
    text = wire["content"]
    if not text or wire["role"] == "assistant":
        return wire
    return {**wire, "content": [{"type": "text", "text": text, "cache_control": _control(marks)}]}


def _control(marks: Breakpoints) -> dict[str, str]:
    return {"type": "ephemeral"} | ({"ttl": marks.ttl} if marks.ttl != "5m" else {})


DEFAULT_WINDOW = 128_000
_OLLAMA = "ollama/"


class _Known(Struct, frozen=True):
    """What litellm knows about a model after it is imported; the defaults are for an unknown model."""

    max_output: int | None = None
    takes_tools: bool = True
    unset_keys: tuple[str, ...] = ()


class LitellmModel:
    """A ChatModel by litellm name, such as `openai/gpt-5`. litellm is imported once, in a thread."""

    def __init__(
        self, name: str, *, api_base: str = "", window: int | None = None, timeout: float = 120.0
    ) -> None:
        """`api_base` is the server's address if not the provider's; `window` is what that server reports.

        `timeout` (seconds) is for connecting and each chunk.
        """
        self.name = name
        self.label = name
        self.api_base = api_base
        self._window = window
        self._timeout = timeout
        self._litellm: Any = None
        self._known = _Known()

    @property
    def features(self) -> ModelFeatures:
        """See `ChatModel`."""
        return features_of(self.name)

    @property
    def window(self) -> int:
        """The context window in tokens: as given, or from litellm's list; else DEFAULT_WINDOW."""
        if self._window:
            return self._window
        entry = model_entry(shipped_models(), self.name)
        return _whole(entry, "max_input_tokens") or _whole(entry, "max_tokens") or DEFAULT_WINDOW

    async def prepare(self) -> None:
        """Import litellm and look up the model without blocking the loop. `stream` calls it if needed."""
        if self._litellm is None:
            litellm = await asyncio.to_thread(_import)
            self._known = await asyncio.to_thread(_look_up, litellm, self._sent_name)
            self._litellm = litellm

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """See `ChatModel`. Raises ModelError, perhaps after part of the answer was streamed."""
        searched = request.deferral == "tool_search"
        try:
            await self.prepare()
            if request.tools and not self._known.takes_tools:
                # litellm would silently leave out the tools.
                raise no_tools(self.name)
            async with aclosing(self._responses(request) if searched else self._chat(request)) as chunks:
                async for chunk in chunks:
                    yield chunk
        except ModelError:
            raise
        except Exception as error:
            raise model_error(error, self._asked) from error

    async def _chat(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """The answer through litellm's chat completions, which it translates for each provider."""
        assembly = Assembly()
        async with aclosing(await self._send(request)) as answer:
            async for chunk in answer:
                if added := assembly.add(chunk):
                    yield TextDelta(added)
        # litellm ends an interrupted stream as if it had stopped. These hold what the provider said, the
        # second if it said so with its last words, as Gemini does.
        ends = ("received_finish_reason", "intermittent_finish_reason")
        if all(getattr(answer, name, "unknown") is None for name in ends):
            raise no_answer(self._asked) if assembly.is_empty else broke_off(self._asked)
        if not is_usage_reported(answer):
            assembly.usage = Usage()
        yield ModelReply(
            assembly.text, assembly.tool_calls(), assembly.usage, assembly.finish_reason or "stop"
        )

    async def _responses(self, request: ModelRequest) -> AsyncGenerator[ModelChunk]:
        """The answer through OpenAI's Responses API."""
        assembly = ResponsesAssembly()
        limit = {"max_output_tokens": self._most(request)}
        body = {**responses_body(request), **limit, "store": False, "stream": True}
        answer = await self._litellm.aresponses(**body, **self._addressed)
        async for event in answer:
            if added := assembly.add(event):
                yield TextDelta(added)
        if not assembly.is_complete:
            raise broke_off(self._asked)
        yield assembly.reply()

    async def _send(self, request: ModelRequest) -> Any:
        arguments: dict[str, Any] = {
            **self._addressed,
            "messages": marked_messages(request),
            "max_tokens": self._most(request),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools:
            arguments["tools"] = wire_tools(marked_tools(request))
            if request.think:
                arguments["tool_choice"] = "none"
        if request.deferral == "tool_reference":
            arguments["extra_headers"] = dict(BETA_HEADER)
        answer = await self._litellm.acompletion(**arguments)
        if answer is None:
            raise not_processed(self._asked)
        return answer

    @property
    def _asked(self) -> Asked:
        """Who is asked, for errors."""
        return Asked(self.name, self.api_base, self._known.unset_keys)

    @property
    def _addressed(self) -> dict[str, Any]:
        """The arguments of every request: to whom it goes, and how long it may take."""
        base = {"api_base": self.api_base} if self.api_base else {}
        model, timeout = self._sent_name, self._timeout
        return {"model": model, "timeout": timeout, "num_retries": 0, "max_retries": 0, **base}

    def _most(self, request: ModelRequest) -> int:
        """The most tokens of an answer."""
        limit = self._known.max_output
        return min(request.max_output, limit) if limit else request.max_output

    @property
    def _sent_name(self) -> str:
        """litellm writes tools into the prompt for `ollama/`, but sends them for `ollama_chat/`."""
        if self.name.startswith(_OLLAMA):
            return f"ollama_chat/{self.name.removeprefix(_OLLAMA)}"
        return self.name


def _import() -> Any:
    """Import litellm so that it does not fetch prices from the network or write to the screen."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
    # Otherwise it reads the `.env` of whatever project its environment is in.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    # litellm stores usages of its own in responses, which pydantic warns about on the screen.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = False
        logger.addHandler(logging.NullHandler())
    return litellm


def _look_up(litellm: Any, name: str) -> _Known:
    """What litellm's files say about a model; `get_model_info` would also ask a local server."""
    try:
        parameters = litellm.get_supported_openai_params(name)
        unset = litellm.validate_environment(name)["missing_keys"]
    except Exception:  # litellm raises all kinds of errors for an unknown name
        return _Known()
    return _Known(
        max_output=_whole(model_entry(litellm.model_cost, name), "max_output_tokens"),
        takes_tools=not parameters or "tools" in parameters,
        unset_keys=tuple(key for key in unset if key.endswith(("_KEY", "_TOKEN", "_KEY_ID"))),
    )


def _whole(entry: Mapping[str, Any], field: str) -> int | None:
    """A positive number of tokens; None for anything else: the list has words in places."""
    number = entry.get(field)
    return number if isinstance(number, int) and number > 0 else None
