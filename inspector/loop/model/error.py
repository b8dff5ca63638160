"""Turns litellm's exceptions into a ModelError: one line that says what happened, and what to try."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from inspector.core.error import FailureKind, ModelError
from inspector.core.ports import OWN_ADDRESS
from inspector.loop.model.failure import Failure, read_failure
from inspector.tokens.accounting import model_entry, shipped_models


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure: it has one of the codes, statuses or exception classes, or its words match.

    `message` and the hints are for `str.format`; the message is what a person is told, without the status.
    With `quotes` the provider's words follow; with `waits`, how long to wait does, if that is known. With a
    `failure` the same request may succeed a little later.
    """

    message: str
    hint: str
    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = frozenset()
    classes: frozenset[str] = frozenset()
    pattern: str = ""
    quotes: bool = True
    waits: bool = False
    failure: FailureKind | None = None
    ollama_hint: str = ""

    def fits(self, failure: Failure) -> bool:
        """Whether a failure is of this kind. Without an answer, the words are those of every cause."""
        words = failure.words if failure.status else failure.raw
        return bool(
            self.codes & failure.body.codes
            or failure.status in self.statuses
            or self.classes & failure.names
            or (self.pattern and re.search(self.pattern, words, re.IGNORECASE))
        )


def _any(*values: str) -> frozenset[str]:
    return frozenset(values)


UNKNOWN_FAILURE = Kind("{who} failed", "Try again, or use another model.")

# The first that fits, from the special to the general: providers use one status for several things, and
# litellm one class (its InternalServerError) for everything unexpected.
KINDS = (
    Kind(
        "the key for {who} cannot be sent",
        "Set {key} again: it contains a line break or another invalid character.",
        classes=_any("UnicodeEncodeError"),
        pattern=r"control character detected in headers|illegal header value",
        quotes=False,
    ),
    Kind(
        "the request is longer than the context window of {model}",
        "Start a new session, bind fewer tools, or use a model with a larger window.",
        codes=_any("context_length_exceeded"),
        classes=_any("ContextWindowExceededError"),
        pattern=r"prompt is too long|maximum context length|exceeds the maximum number of tokens",
    ),
    Kind(
        "{who} rejected the request because of its content",
        "Rephrase it; the text of a tool or result may also be the cause.",
        codes=_any("content_filter", "content_policy_violation"),
        classes=_any("ContentPolicyViolationError"),
        pattern=r"content (?:management|filter\w*|policy)|flagged|safety system",
    ),
    Kind(
        "the account at {who} is out of credit or quota",
        "Add credit or raise the limit there, or use another model.",
        codes=_any("insufficient_quota", "billing_error"),
        statuses=frozenset({402}),
        pattern=r"credit balance|insufficient (?:credits?|balance|quota|funds)",
    ),
    Kind(
        "the request is too large for {who}",
        "Bind fewer tools, start a new session, or use another model.",
        codes=_any("request_too_large"),
        statuses=frozenset({413}),
    ),
    Kind(
        "{who} is limiting your request rate",
        "Wait{wait}, or use another model.",
        codes=_any("rate_limit_error", "rate_limit_exceeded", "resource_exhausted"),
        statuses=frozenset({429}),
        classes=_any("RateLimitError"),
        waits=True,
        failure=FailureKind.RATE_LIMIT,
    ),
    Kind(
        "{who} rejected the key",
        "Set {key} to a valid key.",
        codes=_any("api_key_invalid", "invalid_api_key", "authentication_error"),
        statuses=frozenset({401}),
        classes=_any("AuthenticationError"),
    ),
    Kind(
        "{who} does not let this key use {name}",
        "Check the key's permissions, or use another model.",
        statuses=frozenset({403}),
        classes=_any("PermissionDeniedError"),
    ),
    Kind(
        "{who} has no model {name}",
        "Check the name, including the provider's prefix.",
        codes=_any("model_not_found", "not_found_error"),
        pattern=r"\bmodels?\b.{0,80}(?:not found|not exist)|not a valid model",
        ollama_hint="`ollama pull {name}` downloads it; `toolsight doctor models` lists installed models.",
    ),
    Kind(
        "no model answers at this address ({place})",
        "Check --api-base: most servers expect it to end in /v1.",
        statuses=frozenset({404, 405}),
        classes=_any("NotFoundError"),
    ),
    Kind(
        "cannot connect to {place}: {reason}",
        "Check the network; for a local model, check that its server is running at --api-base.",
        classes=_any("ConnectError", "ConnectTimeout", "ClientConnectorError"),
        quotes=False,
        failure=FailureKind.TRANSPORT,
        ollama_hint="Start it with `ollama serve`; `toolsight doctor models` lists what answers here.",
    ),
    Kind(
        "{who} did not answer within {seconds}",
        "Try again, or send a smaller request.",
        classes=_any("ReadTimeout"),
        quotes=False,
        failure=FailureKind.TIMEOUT,
    ),
    Kind(
        "{who} did not answer in time",
        "Try again, or send a smaller request.",
        statuses=frozenset({408, 504}),
        classes=_any("Timeout"),
        quotes=False,
        failure=FailureKind.TIMEOUT,
    ),
    Kind(
        "“{host}” is not a valid address for {provider}",
        "Check --api-base: it must start with http:// or https://.",
        classes=_any("InvalidURL", "UnsupportedProtocol"),
        quotes=False,
    ),
    Kind(
        "{who} stopped in the middle of its answer",
        "The connection was lost. Try again.",
        classes=_any("ReadError", "RemoteProtocolError"),
        pattern="closed the responses stream before",
        quotes=False,
        failure=FailureKind.TRANSPORT,
    ),
    Kind(
        "{who} did not send a model's answer",
        "Check that --api-base is the address of a model server.",
        classes=_any("JSONDecodeError", "APIResponseValidationError", "KeyError"),
        pattern=r"invalid response from LLM|'choices'|converting to valid response",
        quotes=False,
    ),
    Kind(
        "litellm needs a package for {model}",
        "Install that package alongside Toolsight, or use another model.",
        classes=_any("ModuleNotFoundError"),
    ),
    Kind(
        "{model} does not support tools",
        "Use a model that supports tool calls.",
        classes=_any("UnsupportedParamsError"),
    ),
    Kind(
        "{who} is overloaded",
        "Try again a little later, or use another model.",
        codes=_any("overloaded_error", "unavailable"),
        statuses=frozenset({503, 529}),
        classes=_any("ServiceUnavailableError"),
        pattern=r"\boverloaded\b",
        quotes=False,
        waits=True,
        failure=FailureKind.TRANSPORT,
    ),
    Kind(
        "{who} had an internal error",
        "Try again later, or use another model.",
        statuses=frozenset({500, 502, 520, 521, 522, 523, 524}),
        failure=FailureKind.TRANSPORT,
    ),
    Kind(
        "{who} had an internal error",
        "Try again later, or use another model.",
        classes=_any("InternalServerError", "BadGatewayError"),
    ),
    Kind(
        "{who} rejected the request",
        "Check the model's name and what it supports.",
        statuses=frozenset({400, 422}),
        classes=_any("BadRequestError", "UnprocessableEntityError"),
    ),
)


_MISSING_KEY = re.compile(
    r"missing\b.{0,30}\b(?:api[ _]?key|credentials)|api_key client option must be set"
    r"|unable to locate credentials",
    re.IGNORECASE,
)
_TOOL_REFUSAL = re.compile(r"not support|unsupported|no endpoints found that support", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Asked:
    """Who was asked for an answer.

    `seconds` is how long an answer may take; `keys` are the environment variables that the provider reads and
    that are not set.
    """

    model: str
    api_base: str = ""
    seconds: float = 0.0
    keys: Sequence[str] = ()
    provider: str = field(init=False)

    def __post_init__(self) -> None:
        listed = str(model_entry(shipped_models(), self.model).get("litellm_provider") or "")
        named = self.model.partition("/")[0] if "/" in self.model else listed or self.model
        object.__setattr__(self, "provider", named)

    @property
    def who(self) -> str:
        """The provider, and where it is if that is not its own address."""
        return f"{self.provider} at {_host(self.api_base)}" if self.api_base else self.provider

    @property
    def name(self) -> str:
        """The model's name at its provider."""
        return self.model.partition("/")[2] or self.model

    @property
    def key(self) -> str:
        """The environment variable that usually holds the provider's key."""
        return f"{self.provider.upper().replace('-', '_')}_API_KEY"


def model_error(error: BaseException, asked: Asked) -> ModelError:
    """Explain an error to people: what happened, in the provider's own words, and what to try."""
    failure = read_failure(error)
    if _MISSING_KEY.search(failure.words) or ("AuthenticationError" in failure.names and asked.keys):
        return _no_key(asked, failure.raw)
    if "LLM Provider NOT provided" in failure.words:
        hint = "Write provider/model: openai/…, anthropic/…, ollama/…, or demo/planner."
        return ModelError(f"litellm does not know the provider of {asked.model}", hint=hint, raw=failure.raw)
    if "tool" in failure.words.lower() and _TOOL_REFUSAL.search(failure.words):
        return no_tools(asked.model, failure.sentence, raw=failure.raw)
    kind = next((kind for kind in KINDS if kind.fits(failure)), UNKNOWN_FAILURE)
    hint = (asked.provider == "ollama" and kind.ollama_hint) or kind.hint
    message = _message(kind, failure, asked)
    return ModelError(
        message,
        hint=_filled(hint, failure, asked),
        raw=failure.raw,
        failure=kind.failure,
        retry_after=failure.wait_seconds,
    )


def broke_off(asked: Asked) -> ModelError:
    """The error for a stream that ended before the answer was complete."""
    message = f"{asked.who} stopped in the middle of its answer"
    return ModelError(message, hint="Try again.", failure=FailureKind.TRANSPORT)


def not_processed(asked: Asked) -> ModelError:
    """The error for a 422 of a provider that speaks as OpenAI does: litellm keeps what it said to itself."""
    hint = "Check what the model supports; its server's log shows what it rejected."
    return ModelError(f"{asked.who} rejected the request (422)", hint=hint)


def no_tools(model: str, words: str = "its provider does not accept them", *, raw: str = "") -> ModelError:
    """The error for a model that does not support tools."""
    hint = "Use a model that supports tool calls."
    return ModelError(f"{model} does not support tools: {words}", hint=hint, raw=raw)


def _no_key(asked: Asked, raw: str) -> ModelError:
    # Several keys of one provider are alternatives, unless they are parts of one credential.
    link = " or " if all(key.endswith("_API_KEY") for key in asked.keys) else " and "
    variables = link.join(asked.keys) or asked.key
    keyless = "`demo/planner`, which needs none"
    if asked.api_base:
        keyless = f"`{OWN_ADDRESS}{asked.name}` if that server wants none"
    hint = f"Set {variables} in the environment, or use {keyless}."
    return ModelError(f"no key for {asked.model}", hint=hint, raw=raw)


def _message(kind: Kind, failure: Failure, asked: Asked) -> str:
    """Who did what, with the status, and the provider's words if they add something."""
    said = _filled(kind.message, failure, asked)
    status = f" ({failure.status})" if failure.is_refusal else ""
    wait = f": try again in {failure.wait}" if kind.waits and failure.wait else ""
    words = f": {failure.sentence}" if kind.quotes and not wait and _adds(failure) else ""
    return f"{said}{status}{wait}{words}"


def _filled(text: str, failure: Failure, asked: Asked) -> str:
    """Fill in a text of ours; what is filled in is not looked at again."""
    host = failure.host or _host(asked.api_base)
    wait = f" {failure.wait}" if failure.wait else ""
    place = f"{asked.provider} at {host}" if host else asked.provider
    return text.format(
        who=asked.who,
        provider=asked.provider,
        host=host,
        place=place,
        model=asked.model,
        name=asked.name,
        key=asked.key,
        wait=wait,
        reason=failure.reason or "the connection failed",
        seconds=f"{asked.seconds:g} s",
    )


def _adds(failure: Failure) -> bool:
    """Whether the provider's words say more than its status."""
    phrases = {status.phrase.lower() for status in HTTPStatus}
    words = failure.sentence.lower().removeprefix(f"{failure.status} ")
    return bool(words) and words not in phrases


def _host(address: str) -> str:
    """The host of an address, and its port; what is no address is returned as it is."""
    return urlsplit(address).netloc.rpartition("@")[2] or address
