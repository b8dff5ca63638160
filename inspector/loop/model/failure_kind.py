"""The kinds of failed requests: how each is known, what is said of it, and what to try."""

import re
from dataclasses import dataclass

from inspector.loop.model.failure import Failure


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure: it has one of the codes, statuses or exception classes, or its words match.

    `message` and the hints are for `str.format`; the message is what a person is told, without the status.
    With `quotes` the provider's words follow; with `waits`, how long to wait does, if that is known.
    """

    message: str
    hint: str
    codes: frozenset[str] = frozenset()
    statuses: frozenset[int] = frozenset()
    classes: frozenset[str] = frozenset()
    pattern: str = ""
    quotes: bool = True
    waits: bool = False
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
        ollama_hint="Start it with `ollama serve`; `toolsight doctor models` lists what answers here.",
    ),
    Kind(
        "{who} did not answer within {seconds}",
        "Try again, or send a smaller request.",
        classes=_any("ReadTimeout"),
        quotes=False,
    ),
    Kind(
        "{who} did not answer in time",
        "Try again, or send a smaller request.",
        statuses=frozenset({408, 504}),
        classes=_any("Timeout"),
        quotes=False,
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
    ),
    Kind(
        "{who} had an internal error",
        "Try again later, or use another model.",
        statuses=frozenset({500, 502, 520, 521, 522, 523, 524}),
        classes=_any("InternalServerError", "BadGatewayError"),
    ),
    Kind(
        "{who} rejected the request",
        "Check the model's name and what it supports.",
        statuses=frozenset({400, 422}),
        classes=_any("BadRequestError", "UnprocessableEntityError"),
    ),
)
