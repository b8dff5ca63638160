"""Turns litellm's exceptions into a ModelError that says what to try."""

import os
import re
from collections.abc import Iterator, Sequence

from inspector.domain.error import ModelError
from inspector.domain.redaction import Redactor

_LIMIT = 400
_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:\s*(?:litellm\.)?\w*(?:Exception|Error|Timeout)(?::| -)\s+)+")
_NOISE = re.compile(
    r"\s*(?:Traceback \(most recent call last\).*|ssl:(?:<[^>]*>|\w+)|Handle with `litellm.*)", re.S
)
_MISSING_KEY = re.compile(
    r"missing\b.{0,30}\b(?:api[ _]?key|credentials)|api_key client option must be set"
    r"|unable to locate credentials",
    re.IGNORECASE,
)
_TOOL_REFUSAL = re.compile(r"not support|unsupported|no endpoints found that support", re.IGNORECASE)
_CUT_STREAM = "closed the responses stream before"
_BROKE_OFF = ("{model} stopped in the middle of its answer", "The connection was lost. Try again.")
_UNREACHABLE = (
    "{model} cannot be reached",
    "Check the network; for a local model, check that its server runs and that --api-base is its address.",
)
_SLOW = ("{model} did not answer in time", "Try again, or send a smaller request.")
_REFUSED_KEY = ("{model} rejected the key", "Set the provider's key, {key}, to a valid value.")
_LATER = ("the provider of {model} failed", "Try again later.")
# Class names anywhere in the chain of causes, most specific first. litellm's own come before the network's;
# its APIConnectionError is left out, because litellm uses it for everything unexpected.
_KINDS: tuple[tuple[str, tuple[str, str]], ...] = (
    (
        "ContextWindowExceededError",
        (
            "the request is longer than the context window of {model}",
            "Start a new session, bind fewer tools, or use a model with a larger window.",
        ),
    ),
    ("AuthenticationError", _REFUSED_KEY),
    (
        "PermissionDeniedError",
        ("the key does not have access to {model}", "Check the key's permissions, or use another model."),
    ),
    ("RateLimitError", ("{model} is over its rate limit", "Wait{wait}, or use another model.")),
    ("NotFoundError", ("the provider has no model named {model}", "Check the name.")),
    ("Timeout", _SLOW),
    ("ReadTimeout", _SLOW),
    ("ConnectError", _UNREACHABLE),
    ("ConnectTimeout", _UNREACHABLE),
    ("ReadError", _BROKE_OFF),
    ("RemoteProtocolError", _BROKE_OFF),
    (
        "JSONDecodeError",
        ("{model} did not send a valid answer", "Check that --api-base is the address of a model server."),
    ),
    (
        "ModuleNotFoundError",
        ("litellm needs a package for {model}", "Install it with Toolsight, or use another model."),
    ),
    (
        "UnsupportedParamsError",
        ("{model} does not support tools", "Use a model that supports tool calls."),
    ),
    ("ServiceUnavailableError", ("{model} is not available right now", "Try again later.")),
    ("InternalServerError", _LATER),
    ("BadRequestError", ("{model} rejected the request", "Check the model's name and what it supports.")),
)


def model_error(error: BaseException, model: str, *, keys: Sequence[str] = ()) -> ModelError:
    """Explain an error to people: what happened, what to try, and the provider's own words.

    `keys` are the environment variables that the model's provider reads and that are not set.
    """
    # An error in the middle of a stream comes wrapped in one for litellm's own router.
    error = getattr(error, "original_exception", None) or error
    names = {cls.__name__ for cause in _chain(error) for cls in type(cause).__mro__}
    detail = _detail(error)
    if _MISSING_KEY.search(detail) or ("AuthenticationError" in names and keys):
        return _no_key(model, keys)
    if _CUT_STREAM in detail:
        return broke_off(model)
    if "LLM Provider NOT provided" in detail:
        hint = "Write provider/model: openai/…, anthropic/…, ollama/…, or demo/planner."
        return ModelError(f"litellm does not know the provider of {model}", hint=hint)
    if "tool" in detail.lower() and _TOOL_REFUSAL.search(detail):
        return no_tools(model, detail)
    for name, (message, hint) in _KINDS:
        if name in names:
            filled_hint = hint.format(key=key_variable(model), wait=_wait(error))
            return ModelError(f"{message.format(model=model)}: {detail}", hint=filled_hint)
    return ModelError(f"{model} failed: {detail}", hint="Try again, or use another model.")


def _no_key(model: str, keys: Sequence[str]) -> ModelError:
    # Several keys of one provider are alternatives, unless they are parts of one credential.
    link = " or " if all(key.endswith("_API_KEY") for key in keys) else " and "
    variables = link.join(keys) or key_variable(model)
    hint = f"Set {variables} in the environment, or use `demo/planner`, which needs none."
    return ModelError(f"no key for {model}", hint=hint)


def broke_off(model: str) -> ModelError:
    """The error for a stream that ended before the answer was complete."""
    message, hint = _BROKE_OFF
    return ModelError(message.format(model=model), hint=hint)


def no_tools(model: str, detail: str = "its provider accepts none") -> ModelError:
    """The error for a model that does not support tools."""
    return ModelError(
        f"{model} does not support tools: {detail}", hint="Use a model that supports tool calls."
    )


def key_variable(model: str) -> str:
    """The environment variable that usually holds the provider's key."""
    provider = model.partition("/")[0] if "/" in model else "openai"
    return f"{provider.upper().replace('-', '_')}_API_KEY"


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


def _detail(error: BaseException) -> str:
    """The provider's words, without litellm's prefixes and without anything that looks like a key."""
    text = str(getattr(error, "message", "") or error)
    words = _PREFIX.sub("", _NOISE.sub("", text.rpartition("Exception - ")[2] or text))
    secrets = {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return " ".join(Redactor(secrets).text(words).split())[:_LIMIT]


def _wait(error: BaseException) -> str:
    headers = getattr(error, "litellm_response_headers", None) or {}
    seconds = headers.get("retry-after")
    return f" {seconds} s" if seconds else ""
