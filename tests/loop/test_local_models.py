"""Model servers on this machine, over real HTTP, against stubs of each and of whatever else may answer."""

import gzip
import json
import os
import socket
from collections.abc import Mapping
from typing import Any

import pytest

from inspector.core.error import ModelError
from inspector.core.message import ModelReply
from inspector.core.ports import LocalModel
from inspector.loop.model.litellm import LitellmModel
from inspector.loop.model.local import LocalModelServers
from tests.loop.test_litellm_openai import REQUEST, chunk, stream
from tests.support.local_servers import (
    LLAMA,
    LLAMA_ANSWERS,
    OLLAMA_ANSWERS,
    STUDIO_ANSWERS,
    Raw,
    at,
    local_stub,
    looking,
    stub_server,
)


async def found(local: LocalModelServers) -> list[LocalModel]:
    return [model async for models in local.find() for model in models]


async def found_at(name: str, answers: Mapping[str, Any], *, seconds: float = 10) -> list[LocalModel]:
    with local_stub(answers) as stub:
        return await found(looking(at(name, stub.port), seconds=seconds))


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("server", "answers", "path", "name", "window"),
    [
        ("Ollama", OLLAMA_ANSWERS, "", "ollama/qwen3:4b", 8192),
        ("LM Studio", STUDIO_ANSWERS, "/v1", "lm_studio/openai/gpt-oss-20b", 16384),
        ("llama.cpp", LLAMA_ANSWERS, "/v1", "llamafile/models/gemma.gguf", 4096),
    ],
)
async def test_the_models_of_a_server_are_named_with_what_it_reports(
    server: str, answers: Mapping[str, Any], path: str, name: str, window: int
) -> None:
    with local_stub(answers) as stub:
        base = f"http://127.0.0.1:{stub.port}{path}"
        assert await found(looking(at(server, stub.port))) == [LocalModel(name, base, server, window)]


@pytest.mark.parametrize("properties", [Raw(status=401), {"total_slots": 1}])
async def test_another_server_at_the_port_of_llama_cpp_or_one_with_a_key_is_not_offered(
    properties: Any,
) -> None:
    assert await found_at("llama.cpp", {"/v1/models": LLAMA, "/props": properties}) == []


async def test_servers_are_found_whatever_the_others_do() -> None:
    with local_stub(OLLAMA_ANSWERS) as ollama, local_stub({"/v1/models": Raw(silent=True)}) as silent:
        local = looking(at("Ollama", ollama.port), at("LM Studio", silent.port), at("llama.cpp", free_port()))
        async for models in local.find():
            # The silent one has not been released: nothing waited for it.
            assert [model.name for model in models] == ["ollama/qwen3:4b"]
            break


@pytest.mark.parametrize(
    "answer",
    [
        Raw(),
        Raw(b"<!doctype html><title>My app</title>"),
        Raw(b"[" * 500_000),
        Raw(b"9" * 10_000),
        Raw(b"\xff\xfe\x00"),
        Raw(b"x" * 65_536, endless=True),
        Raw(gzip.compress(b" " * 50_000_000 + b"{}"), headers=(("content-encoding", "gzip"),)),
        Raw(b"{}", headers=(("location", "http://example.invalid/"),), status=302),
        Raw(b"{}", status=500),
    ],
    ids=["nothing", "html", "deep", "number", "bytes", "endless", "bomb", "elsewhere", "broken"],
)
async def test_whatever_else_answers_is_no_model(answer: Raw) -> None:
    assert await found_at("Ollama", dict.fromkeys(OLLAMA_ANSWERS, answer)) == []


@pytest.mark.parametrize("name", ["", "a\x1b[2J", "‮gpt", "x" * 201, 7])
async def test_a_name_that_is_not_fit_for_a_command_line_is_left_out(name: Any) -> None:
    assert await found_at("Ollama", {"/api/tags": {"models": [{"name": name}]}}) == []


async def test_a_server_cannot_flood_the_list() -> None:
    many = {"models": [{"name": f"m{number}"} for number in range(5000)]}
    assert len(await found_at("Ollama", {"/api/tags": many})) == 100


async def test_nothing_that_is_secret_and_no_proxy_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789abcdef")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with local_stub(LLAMA_ANSWERS) as stub:
        assert await found(looking(at("llama.cpp", stub.port)))
    assert sorted(stub.asked) == ["/props", "/v1/models"]
    assert all("authorization" not in headers for headers in stub.headers)


async def test_a_found_model_answers_without_a_key_and_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789abcdef")
    with stub_server(stream(chunk({"content": "Hello."}), chunk({}, "stop"))) as stub:
        found = LocalModel("hosted_vllm/openai/gpt-oss-20b", f"{stub.address}/v1", "test", window=4096)
        model = looking().open(found)
        parts = [part async for part in model.stream(REQUEST)]
    assert isinstance(parts[-1], ModelReply)
    assert parts[-1].text == "Hello."
    assert stub.received[0]["model"] == "openai/gpt-oss-20b"
    assert stub.received[0]["tools"]
    assert os.environ["OPENAI_API_KEY"] not in json.dumps(stub.headers)


@pytest.mark.parametrize(
    ("shown", "window"),
    [
        ({"parameters": 'stop  "<x>"\nnum_ctx                        8192'}, 8192),
        ({"model_info": {"qwen3.context_length": 40960}, "parameters": "num_ctx many"}, 40960),
        ({"model_info": {"qwen3.context_length": 40960}, "parameters": "num_ctx 4096"}, 4096),
        ({"model_info": {"qwen3.context_length": "40960"}}, None),
        ({"model_info": []}, None),
        ([], None),
    ],
)
async def test_the_window_of_an_ollama_model_that_is_not_loaded_is_asked_for(shown: Any, window: Any) -> None:
    (model,) = await found_at("Ollama", {**OLLAMA_ANSWERS, "/api/ps": {}, "/api/show": shown})
    assert model.window == window


@pytest.mark.parametrize(("path", "window"), [("", "max_model_len"), ("/v1/", "max_input_tokens")])
async def test_the_models_of_an_address_of_ones_own_are_listed(path: str, window: str) -> None:
    answer = {"data": [{"id": "big", window: 32768}, {"id": "small"}, {"id": 7}]}
    with local_stub({"/v1/models": answer}) as stub:
        base = f"http://127.0.0.1:{stub.port}"
        host = f"127.0.0.1:{stub.port}"
        assert await LocalModelServers(()).at(f"{base}{path}") == (
            LocalModel("hosted_vllm/big", f"{base}/v1", host, window=32768),
            LocalModel("hosted_vllm/small", f"{base}/v1", host),
        )
        assert not any("authorization" in headers for headers in stub.headers)


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/v1", "http://[::1"])
async def test_an_address_that_lists_no_models_is_an_error(address: str) -> None:
    with pytest.raises(ModelError, match="lists no models"):
        await LocalModelServers(()).at(address)


async def test_without_a_key_the_name_for_a_server_that_wants_none_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = LitellmModel("openai/big", api_base="http://127.0.0.1:1/v1")
    with pytest.raises(ModelError, match="no key") as caught:
        assert [part async for part in model.stream(REQUEST)]
    assert "`hosted_vllm/big` if that server wants none" in caught.value.hint
