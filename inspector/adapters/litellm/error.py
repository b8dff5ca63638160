"""What litellm raises, as a ModelError that says what to try."""

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
_BROKE_OFF = ("{model} broke off in the middle of its answer", "The connection was cut. Ask again.")
_UNREACHABLE = (
    "{model} cannot be reached",
    "Check the network; for a local model, that its server runs and --api-base names it.",
)
_SLOW = ("{model} did not answer in time", "Try again, or a smaller request.")
_REFUSED_KEY = ("{model} refuses the key", "Set the provider's key, {key}, to a valid value.")
_LATER = ("the provider of {model} failed", "Try again later.")
# Class names anywhere in the chain of causes, most telling first. litellm's own come before the network's;
# its APIConnectionError is not here, since it stands for everything that litellm did not foresee.
_KINDS: tuple[tuple[str, tuple[str, str]], ...] = (
    (
        "ContextWindowExceededError",
        (
            "the request is longer than the context window of {model}",
            "Start a new session, bind fewer tools, or take a model with a larger window.",
        ),
    ),
    ("AuthenticationError", _REFUSED_KEY),
    (
        "PermissionDeniedError",
        ("the key may not use {model}", "Check the key's rights, or take another model."),
    ),
    ("RateLimitError", ("{model} is over its rate limit", "Wait{wait}, or take another model.")),
    ("NotFoundError", ("the provider has no model called {model}", "Check the name.")),
    ("Timeout", _SLOW),
    ("ReadTimeout", _SLOW),
    ("ConnectError", _UNREACHABLE),
    ("ConnectTimeout", _UNREACHABLE),
    ("ReadError", _BROKE_OFF),
    ("RemoteProtocolError", _BROKE_OFF),
    (
        "JSONDecodeError",
        ("{model} sent something that is no answer", "Check that --api-base is the address of a model."),
    ),
    (
        "ModuleNotFoundError",
        ("litellm lacks a package for {model}", "Install it beside Toolsight, or take another model."),
    ),
    (
        "UnsupportedParamsError",
        ("{model} cannot be sent tools", "Take a model that supports tool calls."),
    ),
    ("ServiceUnavailableError", ("{model} is not available just now", "Try again later.")),
    ("InternalServerError", _LATER),
    ("BadRequestError", ("{model} refuses the request", "Check the model's name and what it supports.")),
)


def model_error(error: BaseException, model: str, *, keys: Sequence[str] = ()) -> ModelError:
    """The error as people need it: what happened, what to try, and the provider's own words.

    `keys` are the environment variables that this model's provider reads and that are not set.
    """
    # What breaks off a stream comes wrapped in an error for litellm's own router.
    error = getattr(error, "original_exception", None) or error
    names = {cls.__name__ for one in _chain(error) for cls in type(one).__mro__}
    detail = _detail(error)
    if _MISSING_KEY.search(detail) or ("AuthenticationError" in names and keys):
        return _no_key(model, keys)
    if "LLM Provider NOT provided" in detail:
        hint = "Write provider/model: openai/…, anthropic/…, ollama/…, or demo/planner."
        return ModelError(f"litellm does not know whose model {model} is", hint=hint)
    if "tool" in detail.lower() and _TOOL_REFUSAL.search(detail):
        return no_tools(model, detail)
    for name, (message, hint) in _KINDS:
        if name in names:
            told = hint.format(key=key_variable(model), wait=_wait(error))
            return ModelError(f"{message.format(model=model)}: {detail}", hint=told)
    return ModelError(f"{model} failed: {detail}", hint="Try again, or take another model.")


def _no_key(model: str, keys: Sequence[str]) -> ModelError:
    # Several keys of one provider are names for the same, unless they are parts of one credential.
    link = " or " if all(key.endswith("_API_KEY") for key in keys) else " and "
    told = link.join(keys) or key_variable(model)
    hint = f"Set {told} in the environment, or take `demo/planner`, which needs none."
    return ModelError(f"no key for {model}", hint=hint)


def broke_off(model: str) -> ModelError:
    """A stream that ended before the answer did."""
    message, hint = _BROKE_OFF
    return ModelError(message.format(model=model), hint=hint)


def no_tools(model: str, detail: str = "its provider takes none") -> ModelError:
    """A model that cannot be asked with tools."""
    return ModelError(
        f"{model} cannot be sent tools: {detail}", hint="Take a model that supports tool calls."
    )


def key_variable(model: str) -> str:
    """The environment variable a provider's key is usually in."""
    provider = model.partition("/")[0] if "/" in model else "openai"
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what led to it, each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [one.__cause__, one.__context__]


def _detail(error: BaseException) -> str:
    """The provider's words without litellm's prefixes, and without anything that looks like a key."""
    text = str(getattr(error, "message", "") or error)
    words = _PREFIX.sub("", _NOISE.sub("", text.rpartition("Exception - ")[2] or text))
    secrets = {name: value for name, value in os.environ.items() if _SECRET_NAME.search(name)}
    return " ".join(Redactor(secrets).text(words).split())[:_LIMIT]


def _wait(error: BaseException) -> str:
    headers = getattr(error, "litellm_response_headers", None) or {}
    seconds = headers.get("retry-after")
    return f" {seconds} s" if seconds else ""
