"""Reads litellm's exceptions, and those below them, into what can be said of a failed request."""

import ast
import json
import os
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from inspector.core.redaction import clean, learn_environment

# What the body of a provider's error says: its own sentence, and a code. Anything may have answered.

_LONGEST_READ = 100_000
_DEEPEST = 6
# From the most to the least telling; OpenRouter passes on in `raw` what the model's own provider said.
_SENTENCES = ("raw", "message", "msg", "detail", "error", "errors", "metadata")
_CODES = ("code", "type", "status", "reason")
_TITLE = re.compile(r"<(title|h1)[^>]*>(.*?)</\1", re.IGNORECASE | re.DOTALL)
_DURATION = re.compile(r"(\d+(?:\.\d+)?) ?(ms|[smhd])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_WAIT = re.compile(r"(?:try again|retry)\w* (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|[smhd]))+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Body:
    """A body as text and, if it is JSON, as `data`; `is_page` if it is a web page."""

    text: str = ""
    data: Any = None
    is_page: bool = False

    @property
    def sentence(self) -> str:
        """What it says of the error, in its own words; "" if nothing."""
        if self.is_page:
            titles = (found[2].strip() for found in _TITLE.finditer(self.text))
            return next(filter(None, titles), "")
        return self.text if self.data is None else _sentence(self.data)

    @property
    def codes(self) -> frozenset[str]:
        """Every code, type and status that it gives the error, in lower case."""
        return frozenset(_codes(self.data))

    @property
    def wait(self) -> str:
        """How long it says to wait, such as `20s`; "" if it does not."""
        told = _first(self.data, "retryDelay") or (found[1] if (found := _WAIT.search(self.text)) else "")
        return str(told)

    @property
    def pretty(self) -> str:
        """The text to read: JSON a line a field."""
        return self.text if self.data is None else json.dumps(self.data, indent=2, ensure_ascii=False)


def read_body(text: str) -> Body:
    """Read a body; litellm hands on some as the text of Python's `bytes`."""
    text = _decoded(text[:_LONGEST_READ]).strip()
    if text[:1] == "<" and "<html" in text[:1000].lower():
        return Body(text, is_page=True)
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return Body(text)
    return Body(text, data) if isinstance(data, dict | list) else Body(text)


def _decoded(text: str) -> str:
    if not text.startswith(("b'", 'b"')):
        return text
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else text


def _sentence(value: Any, depth: int = 0) -> str:
    """The most telling text within a value."""
    if isinstance(value, str):
        inner = read_body(value) if value[:1] in "{[<" else Body(value)
        return value if inner.data is None and not inner.is_page else inner.sentence
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return ""
    if isinstance(value, list):
        return next(filter(None, (_sentence(item, depth + 1) for item in value[:5])), "")
    if isinstance(place := value.get("loc"), list) and isinstance(value.get("msg"), str):
        return f"{'.'.join(map(str, place))}: {value['msg']}"
    # What was passed on says more than that something was.
    metadata = value.get("metadata")
    passed = metadata.get("raw") if isinstance(metadata, dict) else None
    parts = (passed, *(value.get(name) for name in _SENTENCES))
    return next(filter(None, (_sentence(part, depth + 1) for part in parts)), "")


def _codes(value: Any, depth: int = 0) -> list[str]:
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return []
    if isinstance(value, list):
        return [code for item in value[:5] for code in _codes(item, depth + 1)]
    own = [str(value[name]).lower() for name in _CODES if isinstance(value.get(name), str | int)]
    return own + [code for part in value.values() for code in _codes(part, depth + 1)]


def _first(value: Any, name: str, depth: int = 0) -> Any:
    """The first value of a field, anywhere within."""
    if depth > _DEEPEST or not isinstance(value, dict | list):
        return None
    if isinstance(value, dict) and isinstance(value.get(name), str):
        return value[name]
    parts = value if isinstance(value, list) else value.values()
    return next((found for part in parts if (found := _first(part, name, depth + 1))), None)


_FIRST_REFUSAL = 400
_LONGEST_LINE = 160
_LONGEST_RAW = 6_000
_PREFIX = re.compile(r"^(?:\s*(?:litellm\.)?\w*(?:Exception|Error|Timeout)(?::| -)\s+)+")
_NOISE = re.compile(
    r"\s*(?:Traceback \(most recent call last\).*|ssl:(?:<[^>]*>|\w+)|Handle with `litellm.*)", re.S
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
# Those that help whoever asks the provider about it.
_TOLD_HEADERS = ("x-request-id", "request-id", "cf-ray", "retry-after", "content-type")
_NETWORK = (
    (ssl.SSLCertVerificationError, "its certificate is not trusted"),
    (ssl.SSLError, "it does not support TLS, which https requires"),
    (ConnectionRefusedError, "nothing is listening there"),
    (TimeoutError, "no answer"),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed request.

    `names` are the classes of the exception and its causes; `status` is the HTTP status, 0 without an answer;
    `words` are what the provider said, `sentence` the beginning on one line; `wait` is how long to wait
    (`20 s`) and `reason` why there is no connection, "" if unknown; `host` is where the request went, and
    `raw` what came back, for reading.
    """

    names: frozenset[str]
    status: int
    body: Body
    words: str
    sentence: str
    wait: str
    reason: str
    host: str
    raw: str

    @property
    def is_refusal(self) -> bool:
        """Whether there was an answer, which was no."""
        return self.status >= _FIRST_REFUSAL

    @property
    def wait_seconds(self) -> float | None:
        """How long to wait; None if unknown."""
        parts = _DURATION.findall(self.wait)
        return sum(float(number) * _SECONDS[unit] for number, unit in parts) if parts else None


def read_failure(error: BaseException) -> Failure:
    """Read an exception of litellm. Whatever is shown of it is without secrets."""
    # An error in the middle of a stream comes wrapped in one for litellm's own router.
    error = getattr(error, "original_exception", None) or error
    causes: list[Any] = list(_chain(error))
    learn_environment(os.environ)
    # litellm's own exceptions may hold a response made up.
    classes = [(cause, {cls.__name__ for cls in type(cause).__mro__}) for cause in reversed(causes)]
    answer = next((cause.response for cause, names in classes if "HTTPStatusError" in names), None)
    text = _said(error)
    body = _body(answer, causes, text)
    words = clean(body.sentence)
    return Failure(
        names=frozenset(cls.__name__ for cause in causes for cls in type(cause).__mro__),
        status=answer.status_code if answer is not None else 0,
        body=body,
        words=words,
        sentence=_line(words),
        wait=_wait(answer, body),
        reason=_reason(causes),
        host=_host(causes),
        raw=_bounded(clean("\n".join(_raw(answer, body, causes)))),
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


def _said(error: BaseException) -> str:
    """An exception's text without litellm's prefixes, a traceback or an object's address."""
    text = str(getattr(error, "message", "") or error)
    return _PREFIX.sub("", _NOISE.sub("", text.rpartition("Exception - ")[2] or text)).strip()


def _body(answer: Any, causes: list[BaseException], text: str) -> Body:
    """The body of the answer; where it was not read, what the exceptions repeat of it."""
    try:
        whole = answer.text if answer is not None else ""
    except Exception:  # a body that was streamed, or that cannot be decompressed
        whole = ""
    if answer is not None and not whole:
        repeated = (str(getattr(cause, "message", "")) for cause in reversed(causes))
        whole = next((part for part in repeated if part[:2] in ("b'", 'b"') or part[:1] in "{[<"), "")
        return read_body(whole) if whole != "b''" else Body()
    return read_body(whole or text)


def _wait(answer: Any, body: Body) -> str:
    told = str(answer.headers.get("retry-after", "")) if answer is not None else ""
    told = told if told.replace(".", "", 1).isdigit() else body.wait
    number = told.removesuffix("s")
    return f"{float(number):.0f} s" if number.replace(".", "", 1).isdigit() else told


def _reason(causes: list[BaseException]) -> str:
    """Why there is no connection, in plain words."""
    for cause in causes:
        if type(cause).__name__ == "gaierror":
            return "the host name cannot be found"
        for kind, words in _NETWORK:
            if isinstance(cause, kind):
                return words
    return ""


def _host(causes: list[BaseException]) -> str:
    for cause in reversed(causes):
        request = getattr(cause, "_request", None)
        if request is not None:
            return urlsplit(str(request.url)).netloc.rpartition("@")[2]
    return ""


def _line(text: str) -> str:
    """The first sentences of a text; those that only name a page are left to who reads all of it."""
    sentences = [part for part in _SENTENCE_END.split(" ".join(text.split())) if "://" not in part]
    line = sentences[0] if sentences else ""
    for sentence in sentences[1:]:
        if len(line) + len(sentence) < _LONGEST_LINE:
            line = f"{line} {sentence}"
        else:
            break
    return f"{line[: _LONGEST_LINE - 1]}…" if len(line) > _LONGEST_LINE else line.rstrip(".")


def _raw(answer: Any, body: Body, causes: list[BaseException]) -> Iterator[str]:
    """What came back, or what the exceptions say where nothing did."""
    if answer is None:
        said = (
            f"{type(cause).__module__}.{type(cause).__name__}: {_NOISE.sub('', str(cause))}"
            for cause in causes
        )
        yield from dict.fromkeys(said)
        return
    phrases = {status.value: status.phrase for status in HTTPStatus}
    yield f"HTTP {answer.status_code} {phrases.get(answer.status_code, '')}".rstrip()
    for name in _TOLD_HEADERS:
        if name in answer.headers:
            yield f"{name}: {answer.headers[name]}"
    yield ""
    yield body.pretty or "(no body)"


def _bounded(text: str) -> str:
    left = len(text) - _LONGEST_RAW
    return f"{text[:_LONGEST_RAW]}\n… {left:,} more characters" if left > 0 else text
