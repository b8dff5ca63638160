"""Asks the model servers on this machine for their models: Ollama, LM Studio and llama.cpp."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import ModelError
from inspector.core.ports import OWN_ADDRESS, ChatModel, LocalModel
from inspector.schema.json_value import as_object

if TYPE_CHECKING:
    import httpx2


# litellm's providers `lm_studio` and `llamafile` speak as `openai` does, but send no OPENAI_API_KEY and are
# not priced as OpenAI's models.

Answers = Mapping[str, Any]
"""The JSON that each path was answered with; None where there was none."""

_MOST_MODELS = 100
_DIGITS = 15
_LONGEST_NAME = 200
_LARGEST = 10**15


def ollama_models(address: str, answers: Answers) -> tuple[LocalModel, ...]:
    """Ollama's models, without those that it only embeds with or passes on to its cloud.

    The window is known here of those that are loaded; see `ollama_window` for the others.
    """
    windows = {
        _text(entry, "name"): _number(entry, "context_length")
        for entry in _list(answers["/api/ps"], "models")
    }
    found = []
    for entry in _list(answers["/api/tags"], "models"):
        details, name = as_object(entry.get("details")), _text(entry, "name")
        if not name or entry.get("remote_host") or "bert" in _text(details, "family"):
            continue
        found.append(LocalModel(f"ollama/{name}", address, "Ollama", windows.get(name)))
    return tuple(found)


def ollama_window(answer: Any) -> int | None:
    """The window of an Ollama model from `/api/show`: its `num_ctx`, else the most that it was made for."""
    for line in str(as_object(answer).get("parameters", ""))[:_LONGEST_ANSWER].splitlines():
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdecimal():
            return _number({name: int(value.strip()[:_DIGITS])}, name)
    info = as_object(as_object(answer).get("model_info"))
    lengths = (_number(info, name) for name in info if name.endswith(".context_length"))
    return next(filter(None, lengths), None)


def named_models(address: str, answer: Any) -> tuple[LocalModel, ...]:
    """The models that any OpenAI-compatible server lists, with the window if it says that."""
    host = address.partition("://")[2].partition("/")[0]
    # vLLM says max_model_len, LiteLLM's proxy max_input_tokens.
    found = (
        (_text(entry, "id"), _number(entry, "max_model_len") or _number(entry, "max_input_tokens"))
        for entry in _list(answer, "data")
    )
    return tuple(LocalModel(f"{OWN_ADDRESS}{name}", address, host, size) for name, size in found if name)


def lm_studio_models(address: str, answers: Answers) -> tuple[LocalModel, ...]:
    """LM Studio's models, without those that it only embeds with; its own API says more than OpenAI's."""
    details = {_text(entry, "id"): entry for entry in _list(answers["/api/v0/models"], "data")}
    found = []
    for entry in _list(answers["/v1/models"], "data"):
        name = _text(entry, "id")
        more = details.get(name, {})
        if not name or more.get("type") == "embeddings" or name.startswith("text-embedding-"):
            continue
        window = _number(more, "loaded_context_length")
        found.append(LocalModel(f"lm_studio/{name}", address, "LM Studio", window=window))
    return tuple(found)


def llama_cpp_models(address: str, answers: Answers) -> tuple[LocalModel, ...]:
    """The models of a llama.cpp server; empty for another server, and for one that wants a key.

    Its port is that of many web servers, but only llama.cpp has its own properties, and keeps them to those
    with the key if it has one.
    """
    properties = as_object(answers["/props"])
    settings = as_object(properties.get("default_generation_settings"))
    if not settings:
        return ()
    window = _number(settings, "n_ctx")
    names = (_text(entry, "id") for entry in _list(answers["/v1/models"], "data"))
    return tuple(LocalModel(f"llamafile/{name}", address, "llama.cpp", window) for name in names if name)


def _list(answer: Any, field: str) -> Iterator[Mapping[str, Any]]:
    entries = as_object(answer).get(field)
    return (as_object(entry) for entry in (entries if isinstance(entries, list) else [])[:_MOST_MODELS])


def _text(entry: Mapping[str, Any], field: str) -> str:
    """A text that is fit for a name: it becomes an argument and a row of a list."""
    value = entry.get(field)
    if not isinstance(value, str) or not value.isprintable() or len(value) > _LONGEST_NAME:
        return ""
    return value.strip()


def _number(entry: Mapping[str, Any], field: str) -> int | None:
    value = entry.get(field)
    is_fit = isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LARGEST
    return value if is_fit else None


_HOST = "127.0.0.1"
_SECONDS = 0.5
# An address that a person typed may be far away.
_SECONDS_AT = 5.0
# Anything may listen on a port: what is longer is no list of models.
_LONGEST_ANSWER = 1_000_000


class LocalServer(Struct, frozen=True):
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
    """The model servers on this machine, which are asked only when somebody wants to know.

    Each server has half a second for its answers; all are asked at once.
    """

    def __init__(self, servers: Sequence[LocalServer] = USUAL_SERVERS, *, seconds: float = _SECONDS) -> None:
        self._servers = tuple(servers)
        self._seconds = seconds

    @property
    def servers(self) -> tuple[str, ...]:
        """The servers that are looked for, and where."""
        return tuple(f"{server.name} on {server.port}" for server in self._servers)

    async def find(self) -> AsyncGenerator[tuple[LocalModel, ...]]:
        """Yield the models of each server as it answers; ends soon, whatever answers or does not."""
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
        """A model that was found."""
        from inspector.loop.model.litellm import LitellmModel

        return LitellmModel(found.name, api_base=found.api_base, window=found.window)

    async def _ask(self, client: "httpx2.AsyncClient", server: LocalServer) -> tuple[LocalModel, ...]:
        address = f"http://{_HOST}:{server.port}"
        answers = await asyncio.gather(*(self._get(client, f"{address}{path}") for path in server.paths))
        known = dict(zip(server.paths, answers, strict=True))
        found = server.read(f"{address}{server.suffix}", known)
        if server.read is not ollama_models:
            return found
        return tuple(await asyncio.gather(*(self._with_window(client, model) for model in found)))

    async def _with_window(self, client: "httpx2.AsyncClient", model: LocalModel) -> LocalModel:
        """An Ollama model with the window that it has once it is loaded."""
        if model.window:
            return model
        asked = {"model": model.name.partition("/")[2]}
        shown = await self._get(client, f"{model.api_base}/api/show", asked)
        return replace(model, window=ollama_window(shown))

    async def ollama_window(self, name: str, address: str) -> int | None:
        """The window of Ollama's model at an address (half a second); None if nobody says it."""
        entry = {"name": name if ":" in name else f"{name}:latest"}
        async with await asyncio.to_thread(_client) as client:
            running = await self._get(client, f"{address}/api/ps")
            found = ollama_models(address, {"/api/tags": {"models": [entry]}, "/api/ps": running})
            return (await self._with_window(client, found[0])).window if found else None

    async def at(self, address: str) -> tuple[LocalModel, ...]:
        """The models of an OpenAI-compatible server, which needs no key. Raises ModelError if it has none."""
        base = address.rstrip("/")
        own = LocalModelServers((), seconds=_SECONDS_AT)
        async with await asyncio.to_thread(_client) as client:
            for start in (base, f"{base}/v1"):
                if found := named_models(start, await own._get(client, f"{start}/models")):
                    return found
        hint = "It has to answer GET /models as OpenAI does. Write its address and a model's name to use it."
        raise ModelError(f"{base} lists no models", hint=hint)

    async def _get(self, client: "httpx2.AsyncClient", url: str, question: Answers | None = None) -> Any:
        """The JSON that is there, or that answers a question; None for anything else, whatever it is."""
        import httpx2

        method = "GET" if question is None else "POST"
        try:
            sent = client.stream(method, url, json=question)
            async with asyncio.timeout(self._seconds), sent as response:
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
        except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, OSError, ValueError, RecursionError):
            return None


def _client() -> "httpx2.AsyncClient":
    """A client that follows nobody elsewhere and sends no credentials; it takes a while to import."""
    import httpx2

    return httpx2.AsyncClient(trust_env=False, headers={"accept-encoding": "identity"})
