"""Reads litellm's exceptions, and those below them, into what can be said of a failed request."""

import os
import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from inspector.adapters.litellm.body import Body, read_body
from inspector.engine.sink import clean, learn_environment

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


def read_failure(error: BaseException) -> Failure:
    """Read an exception of litellm. Whatever is shown of it is without secrets."""
    # An error in the middle of a stream comes wrapped in one for litellm's own router.
    error = getattr(error, "original_exception", None) or error
    causes: list[Any] = list(_chain(error))
    learn_environment(os.environ)
    answer = next((cause.response for cause in reversed(causes) if _has_answer(cause)), None)
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


def _has_answer(cause: BaseException) -> bool:
    """Whether it holds what the server answered; litellm's own exceptions may hold a response made up."""
    return any(cls.__name__ == "HTTPStatusError" for cls in type(cause).__mro__)


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
    yield f"HTTP {answer.status_code} {_phrase(answer.status_code)}".rstrip()
    for name in _TOLD_HEADERS:
        if name in answer.headers:
            yield f"{name}: {answer.headers[name]}"
    yield ""
    yield body.pretty or "(no body)"


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else ""


def _bounded(text: str) -> str:
    left = len(text) - _LONGEST_RAW
    return f"{text[:_LONGEST_RAW]}\n… {left:,} more characters" if left > 0 else text
