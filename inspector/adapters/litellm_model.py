"""Any model litellm knows, streamed."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from typing import Any

from inspector.adapters.litellm_error import model_error
from inspector.adapters.litellm_wire import Assembly, wire_messages
from inspector.domain.error import ModelError
from inspector.domain.message import ModelChunk, ModelReply, ModelRequest, TextDelta

DEFAULT_WINDOW = 128_000


class LitellmModel:
    """A ChatModel by litellm name, e.g. `openai/gpt-5`. litellm is imported in a thread, once."""

    def __init__(self, name: str, *, api_base: str | None = None, timeout: float = 120.0) -> None:
        """`api_base` is a local server's address; `timeout` is in seconds, for connecting and each chunk."""
        self.name = name
        self.label = name
        self.window = DEFAULT_WINDOW
        self._api_base = api_base
        self._timeout = timeout
        self._litellm: Any = None

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelChunk]:
        """See `ChatModel`. Raises ModelError; what was streamed before it stays with the caller."""
        await self._load()
        assembly = Assembly()
        try:
            answer = await self._send(request, stream=True)
            async for chunk in answer:
                added = assembly.add(chunk)
                if added:
                    yield TextDelta(added)
            # litellm ends a stream that was cut as if it had stopped; what the provider said is kept here.
            if getattr(answer, "received_finish_reason", "unknown") is None:
                await self._whole_or_cut(request, assembly)
                if assembly.text:
                    yield TextDelta(assembly.text)
        except ModelError:
            raise
        except Exception as error:
            raise model_error(error, self.name) from error
        yield ModelReply(
            assembly.text, assembly.tool_calls(), assembly.usage, assembly.finish_reason or "stop"
        )

    async def _whole_or_cut(self, request: ModelRequest, assembly: Assembly) -> None:
        """A stream without an end: it broke off, or the server does not stream and is asked for the whole."""
        if not assembly.is_empty:
            raise ModelError(
                f"{self.name} broke off in the middle of its answer",
                hint="The connection was cut. Ask again.",
            )
        assembly.add_whole(await self._send(request, stream=False))

    async def _send(self, request: ModelRequest, *, stream: bool) -> Any:
        arguments: dict[str, Any] = {
            "model": self.name,
            "messages": wire_messages(request),
            "max_tokens": request.max_output,
            "timeout": self._timeout,
            "num_retries": 0,
            "max_retries": 0,
        }
        if stream:
            arguments |= {"stream": True, "stream_options": {"include_usage": True}}
        if request.tools:
            arguments["tools"] = list(request.tools)
        if self._api_base:
            arguments["api_base"] = self._api_base
        return await self._litellm.acompletion(**arguments)

    async def _load(self) -> None:
        if self._litellm is None:
            self._litellm = await asyncio.to_thread(_import)
            self.window = _window(self._litellm, self.name)


def _import() -> Any:
    """Import litellm so that it asks no network for prices and writes nothing over the screen."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOG", "CRITICAL")
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


def _window(litellm: Any, name: str) -> int:
    """The context window from litellm's own list; the default for a model that is not in it."""
    try:
        known = litellm.get_model_info(name)
    except Exception:  # litellm raises a bare Exception for a model that it does not know
        return DEFAULT_WINDOW
    window = known.get("max_input_tokens") or known.get("max_tokens")
    return int(window) if window else DEFAULT_WINDOW
