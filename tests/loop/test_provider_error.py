"""What a person is told when a provider refuses: real answers of providers, over HTTP, through litellm."""

from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from hypothesis import given, strategies as st

from inspector.core.error import ModelError
from inspector.loop.model.error import Asked, model_error
from inspector.loop.model.litellm import LitellmModel
from tests.loop.test_litellm_openai import REQUEST, run
from tests.support.local_servers import Answer, stub_server

# The first of them imports litellm, which takes seconds; test_litellm_openai.py is the quick one of its kind.
pytestmark = pytest.mark.slow

KEY = "sk-test-0123456789abcdefghij"
GPT, CLAUDE, GEMINI = "openai/gpt-5", "anthropic/claude-sonnet-4-5", "gemini/gemini-2.0-flash"
ROUTER, OLLAMA = "openrouter/openai/gpt-5", "ollama/qwen3"
PAGE = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body><h1>Oops</h1></body></html>"
Body = Mapping[str, Any]


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in ("OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER", "MISTRAL", "GROQ"):
        monkeypatch.setenv(f"{provider}_API_KEY", KEY)


def gpt(message: str, code: str | None = None, kind: str = "invalid_request_error") -> Body:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def claude(kind: str, message: str) -> Body:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def gemini(code: int, message: str, status: str, **detail: str) -> Body:
    return {"error": {"code": code, "message": message, "status": status, "details": [detail]}}


def router(code: int, message: str, **metadata: str) -> Body:
    return {"error": {"message": message, "code": code, "metadata": metadata}, "user_id": "user_1"}


async def failure(model: str, answer: Answer) -> ModelError:
    """What asking the model ends in; the stub's address is left out of the message."""
    path = "/v1" if model.partition("/")[0] in ("openai", "openrouter", "mistral") else ""
    with stub_server(answer) as stub, pytest.raises(ModelError) as caught:
        await run(LitellmModel(model, api_base=f"{stub.address}{path}", timeout=20).stream(REQUEST))
    error = caught.value
    assert KEY not in f"{error.message} {error.hint} {error.raw}"
    host = stub.address.removeprefix("http://")
    return ModelError(error.message.replace(f" at {host}", ""), hint=error.hint, raw=error.raw)


REFUSALS: tuple[tuple[str, int, Body | str, str, str], ...] = (
    (GPT, 401, gpt("Incorrect key.", "invalid_api_key"), "openai rejected the key (401)", "Set OPENAI"),
    (GPT, 429, gpt("Please try again in 6s."), "limiting your request rate (429): try again in 6 s", ""),
    (GPT, 429, gpt("Check it.", "insufficient_quota"), "openai is out of credit or quota (429)", "credit"),
    (GPT, 404, gpt("There is none.", "model_not_found"), "openai has no model gpt-5", "name"),
    (GPT, 404, PAGE, "no model gpt-5 at this address (404)", "--api-base"),
    (GPT, 413, PAGE, "the request is too long for openai/gpt-5 (413)", "fewer tools"),
    (GPT, 502, PAGE, "openai cannot answer now (502)", "later"),
    (GPT, 504, PAGE, "openai did not answer in time (504)", "again"),
    (GPT, 200, PAGE, "openai did not send a model's answer", "--api-base"),
    (GPT, 422, gpt("Extra inputs"), "openai rejected the request (422)", "supports"),
    (
        GPT,
        400,
        {"detail": [{"loc": ["body", "n"], "msg": "few"}]},
        "openai failed (400): body.n: few",
        "again",
    ),
    (CLAUDE, 400, claude("invalid_request_error", "Your credit balance is low."), "out of credit", "credit"),
    (CLAUDE, 400, claude("x", "prompt is too long: 9 > 8"), "too long for anthropic", "fewer tools"),
    (CLAUDE, 529, claude("overloaded_error", "Overloaded"), "anthropic cannot answer now (529)", "later"),
    (GEMINI, 400, gemini(400, "No.", "X", reason="API_KEY_INVALID"), "gemini rejected the key", "GEMINI"),
    (GEMINI, 429, gemini(429, "Quota.", "X", retryDelay="20s"), "request rate (429): try again in 20 s", ""),
    (ROUTER, 502, router(502, "No", raw='{"error":{"message":"boom"}}'), "answer now (502): boom", ""),
    (OLLAMA, 404, {"error": "model 'qwen3' not found"}, "has no model qwen3", "ollama pull qwen3"),
)


@pytest.mark.parametrize(("model", "status", "body", "told", "hint"), REFUSALS)
async def test_a_refusal_is_one_plain_sentence(
    model: str, status: int, body: Body | str, told: str, hint: str
) -> None:
    answer = Answer(status, page=body) if isinstance(body, str) else Answer(status, body=body)
    error = await failure(model, answer)
    assert told in error.message
    assert hint in error.hint
    assert is_plain(error.message)


def is_plain(line: str) -> bool:
    """Whether it is one line without headers, markup, JSON, an address of a page or a traceback."""
    noise = ("\n", "<", "{", "b'", "http", "Traceback", "litellm.", "Error:", "Exception")
    return len(line) < 300 and not any(mark in line for mark in noise)


async def test_what_came_back_is_kept_to_be_read() -> None:
    answer = Answer(401, (("x-request-id", "r-17"),), claude("authentication_error", f"{KEY} is wrong"))
    raw = (await failure(CLAUDE, answer)).raw
    assert raw.startswith("HTTP 401 Unauthorized\nx-request-id: r-17\n")
    assert '"request_id": "req_1"' in raw
    assert "[redacted" in raw


@pytest.mark.parametrize(
    ("model", "key"), [(GPT, "sk-abcdefghij0123456789\nsecond"), (CLAUDE, "sk-abc…0123456789")]
)
async def test_a_key_that_cannot_be_sent_is_told_as_that(
    model: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", key)
    error = await failure(model, Answer(body={}))
    assert "cannot be sent" in error.message
    assert "again" in error.hint
    assert key not in error.raw


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://127.0.0.1:9/v1?key=abc", "cannot connect to openai at 127.0.0.1:9: nothing"),
        ("127.0.0.1:9/v1", "it is no address that starts with http:// or https://"),
    ],
)
async def test_a_server_that_cannot_be_reached_is_named_with_its_place(address: str, told: str) -> None:
    with pytest.raises(ModelError) as caught:
        await run(LitellmModel(GPT, api_base=address, timeout=5).stream(REQUEST))
    assert told in caught.value.message
    assert "abc" not in caught.value.message


def refused(status: int, body: str) -> ModelError:
    """The error for an answer, without asking anybody."""
    request = httpx.Request("POST", "https://api.example.com/v1?key=abc", headers={"authorization": KEY})
    answer = httpx.Response(status, text=body, request=request)
    return model_error(httpx.HTTPStatusError("no", request=request, response=answer), Asked(GPT))


@given(
    status=st.integers(400, 599),
    body=st.text(max_size=300)
    | st.recursive(
        st.none() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["error", "message", "detail", "code", "metadata", "raw", "loc", "msg"]),
                inner,
            )
        ),
        max_leaves=8,
    ).map(str),
)
def test_whatever_comes_back_is_told_on_one_line(status: int, body: str) -> None:
    error = refused(status, body)
    assert error.message == " ".join(error.message.split())
    assert len(error.message) < 300
    assert "key=abc" not in error.message
