"""Reads litellm's exceptions, and those below them, into what can be said of a failed request."""

import json
import os
import re
import ssl
from collections.abc import Iterator
from textwrap import shorten
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from inspector.core.redaction import clean, learn_environment
from inspector.schema.json_value import read_value

_LONGEST_READ, _LONGEST_LINE, _LONGEST_RAW = 100_000, 160, 6_000
_DEEPEST = 8
# From the most to the least telling; OpenRouter passes on in `metadata.raw` what the model's provider said.
_SENTENCES = ("metadata", "raw", "message", "msg", "detail", "error", "errors")
_PREFIX = re.compile(r"^(?:\s*(?:litellm\.)?\w*(?:Exception|Error|Timeout)(?::| -)\s+)+")
_NOISE = re.compile(
    r"\s*(?:Traceback \(most recent call last\).*|ssl:(?:<[^>]*>|\w+)|Handle with `litellm.*)", re.S
)
_WAIT = re.compile(
    r'(?:(?:try again|retry)\w* (?:in|after) |"retryDelay": ?")((?:\d+(?:\.\d+)?(?:ms|[smhd]))+)',
    re.IGNORECASE,
)
_BYTES = re.compile(r"""^b(['"])(.*)\1$""", re.S)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhd])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
# Those that help whoever asks the provider about it.
_TOLD_HEADERS = ("x-request-id", "request-id", "cf-ray", "retry-after", "content-type")
_NETWORK = (
    (ssl.SSLCertVerificationError, "its certificate is not trusted"),
    (ssl.SSLError, "it does not support TLS, which https requires"),
    (ConnectionRefusedError, "nothing is listening there"),
    (TimeoutError, "no answer"),
)


class Failure(Struct, frozen=True):
    """A failed request, read from an exception of litellm and those below it; without secrets.

    `names` are the classes of the exception and its causes, `status` is the HTTP status, 0 without an answer,
    `text` what came back or what the exceptions say, `sentence` the provider's words on one line, `wait` the
    seconds to wait if they are known, `reason` why there is no connection, `host` where the request went, and
    `raw` all of it for reading.
    """

    names: frozenset[str]
    status: int
    text: str
    sentence: str
    wait: float | None
    reason: str
    host: str
    raw: str


def read_failure(error: BaseException) -> Failure:
    """Read an exception of litellm."""
    # An error in the middle of a stream comes wrapped in one for litellm's own router.
    error = getattr(error, "original_exception", None) or error
    causes: list[Any] = list(_chain(error))
    learn_environment(os.environ)
    names = frozenset(cls.__name__ for cause in causes for cls in type(cause).__mro__)
    # litellm's own exceptions may hold a response made up.
    answers = (
        cause.response
        for cause in reversed(causes)
        if "HTTPStatusError" in {cls.__name__ for cls in type(cause).__mro__}
    )
    answer = next(answers, None)
    body = _body(answer, error)
    raw = clean("\n".join(_raw(answer, body, causes)))
    return Failure(
        names=names,
        status=answer.status_code if answer is not None else 0,
        text=clean(body) if answer is not None else raw,
        sentence=shorten(clean(_sentence(body)), _LONGEST_LINE, placeholder="…").rstrip("."),
        wait=_wait(answer, body),
        reason=_reason(causes, names),
        host=next(
            (host_of(str(one._request.url)) for one in causes[::-1] if getattr(one, "_request", None)), ""
        ),
        raw=raw[:_LONGEST_RAW],
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        cause = waiting.pop()
        if cause is not None and id(cause) not in seen:
            seen.add(id(cause))
            yield cause
            waiting += [cause.__cause__, cause.__context__]


def _body(answer: Any, error: BaseException) -> str:
    """The body of the answer; where it was not read, what litellm's exception repeats of it."""
    try:
        whole = str(answer.text) if answer is not None else ""
    except Exception:  # a body that was streamed, or that cannot be decompressed
        whole = ""
    if not whole:
        said = str(getattr(error, "message", "") or error)
        whole = _PREFIX.sub("", _NOISE.sub("", said.rpartition("Exception - ")[2] or said))
    # Some bodies are repeated as the text of Python's `bytes`.
    return _BYTES.sub(r"\2", whole[:_LONGEST_READ].strip())


def _sentence(value: Any, depth: int = 0) -> str:
    """The most telling text within a body; "" for a web page and if there is none."""
    if depth > _DEEPEST:
        return ""
    if isinstance(value, str):
        if value.lstrip()[:1] == "<":
            return ""
        inner = read_value(value) if value[:1] in ("{", "[") else None
        return value if inner is None else _sentence(inner, depth + 1)
    if isinstance(value, list):
        return next(filter(None, (_sentence(item, depth + 1) for item in value[:5])), "")
    if not isinstance(value, dict):
        return ""
    if isinstance(place := value.get("loc"), list) and isinstance(value.get("msg"), str):
        return f"{'.'.join(map(str, place))}: {value['msg']}"
    return next(filter(None, (_sentence(value.get(name), depth + 1) for name in _SENTENCES)), "")


def _wait(answer: Any, body: str) -> float | None:
    told = str(answer.headers.get("retry-after", "")) if answer is not None else ""
    if told.replace(".", "", 1).isdecimal():
        return float(told)
    found = _WAIT.search(body)
    return sum(float(n) * _SECONDS[unit] for n, unit in _DURATION.findall(found[1])) if found else None


def _reason(causes: list[Any], names: frozenset[str]) -> str:
    """Why there is no connection, in plain words."""
    if names & {"InvalidURL", "UnsupportedProtocol"}:
        return "it is no address that starts with http:// or https://"
    if "gaierror" in names:
        return "the host name cannot be found"
    found = (words for cause in causes for kind, words in _NETWORK if isinstance(cause, kind))
    return next(found, "the connection failed")


def _raw(answer: Any, body: str, causes: list[Any]) -> Iterator[str]:
    """What came back, or what the exceptions say where nothing did."""
    if answer is None:
        said = (f"{type(one).__module__}.{type(one).__name__}: {_NOISE.sub('', str(one))}" for one in causes)
        yield from dict.fromkeys(said)
        return
    yield f"HTTP {answer.status_code} {answer.reason_phrase}".rstrip()
    yield from (f"{name}: {answer.headers[name]}" for name in _TOLD_HEADERS if name in answer.headers)
    data = read_value(body)
    yield "\n" + (json.dumps(data, indent=2, ensure_ascii=False) if data else body or "(no body)")


def host_of(address: str) -> str:
    """The host of an address, and its port; what is no address is returned as it is."""
    return urlsplit(address).netloc.rpartition("@")[2] or address
