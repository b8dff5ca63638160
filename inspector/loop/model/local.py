"""Asks the model servers on this machine for their models: Ollama, LM Studio and llama.cpp."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from inspector.core.local_model import LocalModel
from inspector.core.ports import ChatModel
from inspector.loop.model.local_answer import Answers, llama_cpp_models, lm_studio_models, ollama_models

if TYPE_CHECKING:
    import httpx2

_HOST = "127.0.0.1"
_SECONDS = 0.5
# Anything may listen on a port: what is longer is no list of models.
_LONGEST_ANSWER = 1_000_000


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A kind of server, the port it usually has, what it is asked, and how its answers are read.

    `read` gets the address that litellm takes, which is the server's with `suffix`.
    """

    name: str
    port: int
    paths: tuple[str, ...]
    read: Callable[[str, Answers], tuple[LocalModel, ...]]
    suffix: str = ""


USUAL_SERVERS = (
    LocalServer("Ollama", 11434, ("/api/tags", "/api/ps"), ollama_models),
    LocalServer("LM Studio", 1234, ("/v1/models", "/api/v0/models"), lm_studio_models, "/v1"),
    LocalServer("llama.cpp", 8080, ("/v1/models", "/props"), llama_cpp_models, "/v1"),
)


class LocalModelServers:
    """Implements `LocalModels`. Each server has half a second for its answers; all are asked at once."""

    def __init__(self, servers: Sequence[LocalServer] = USUAL_SERVERS, *, seconds: float = _SECONDS) -> None:
        self._servers = tuple(servers)
        self._seconds = seconds

    @property
    def servers(self) -> tuple[str, ...]:
        """See `LocalModels`."""
        return tuple(f"{server.name} on {server.port}" for server in self._servers)

    async def find(self) -> AsyncGenerator[tuple[LocalModel, ...]]:
        """See `LocalModels`."""
        async with await asyncio.to_thread(_client) as client:
            asked = [asyncio.ensure_future(self._ask(client, server)) for server in self._servers]
            try:
                for answered in asyncio.as_completed(asked):
                    if found := await answered:
                        yield found
            finally:
                for task in asked:
                    task.cancel()

    def open(self, found: LocalModel) -> ChatModel:
        """See `LocalModels`."""
        from inspector.loop.model.litellm import LitellmModel

        return LitellmModel(found.name, api_base=found.api_base, window=found.window)

    async def _ask(self, client: "httpx2.AsyncClient", server: LocalServer) -> tuple[LocalModel, ...]:
        address = f"http://{_HOST}:{server.port}"
        answers = await asyncio.gather(*(self._get(client, f"{address}{path}") for path in server.paths))
        known = dict(zip(server.paths, answers, strict=True))
        return server.read(f"{address}{server.suffix}", known)

    async def _get(self, client: "httpx2.AsyncClient", url: str) -> Any:
        """The JSON that is there; None for anything else, whatever it is."""
        import httpx2

        try:
            async with asyncio.timeout(self._seconds), client.stream("GET", url) as response:
                if response.status_code != httpx2.codes.OK:
                    return None
                body = bytearray()
                # Not decoded, so that what is compressed stays as small as it came.
                async with aclosing(response.aiter_raw()) as pieces:
                    async for piece in pieces:
                        body += piece
                        if len(body) > _LONGEST_ANSWER:
                            return None
            return json.loads(body)
        except (httpx2.HTTPError, httpx2.StreamError, OSError, ValueError, RecursionError):
            return None


def _client() -> "httpx2.AsyncClient":
    """A client that follows nobody elsewhere and sends no credentials; it takes a while to import."""
    import httpx2

    return httpx2.AsyncClient(trust_env=False, headers={"accept-encoding": "identity"})
