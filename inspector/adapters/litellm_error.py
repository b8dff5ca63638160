"""What litellm raises, as a ModelError that says what to try."""

from inspector.domain.error import ModelError
from inspector.domain.redaction import Redactor

_LIMIT = 400
_REDACTOR = Redactor({})
# litellm's exception classes by name, most telling first: importing litellm for them takes seconds.
_KINDS = (
    ("Timeout", "{model} did not answer in time", "Try again, or a smaller request."),
    (
        "ContextWindowExceededError",
        "the request is longer than the context window of {model}",
        "Start a new session, bind fewer tools, or take a model with a larger window.",
    ),
    ("AuthenticationError", "{model} refuses the key", "Set the provider's key, {key}, to a valid value."),
    (
        "PermissionDeniedError",
        "the key may not use {model}",
        "Check the key's rights, or take another model.",
    ),
    ("RateLimitError", "{model} is over its rate limit", "Wait{wait}, or take another model."),
    ("NotFoundError", "the provider has no model called {model}", "Check the name."),
    ("ServiceUnavailableError", "{model} is not available just now", "Try again later."),
    ("InternalServerError", "the provider of {model} failed", "Try again later."),
    (
        "APIConnectionError",
        "{model} cannot be reached",
        "Check the network; for a local model, that its server runs and --api-base names it.",
    ),
    ("UnsupportedParamsError", "{model} cannot be sent tools", "Take a model that supports tool calls."),
    ("BadRequestError", "{model} refuses the request", "Check the model's name and what it supports."),
)


def model_error(error: BaseException, model: str) -> ModelError:
    """The error as people need it: what happened, what to try, and the provider's own words."""
    names = {cls.__name__ for cls in type(error).__mro__}
    detail = _detail(error)
    if _is_missing_key(detail):
        hint = f"Set {key_variable(model)} in the environment, or take `demo/planner`, which needs none."
        return ModelError(f"no key for {model}", hint=hint)
    if _is_tool_refusal(detail):
        return ModelError(f"{model} cannot be sent tools: {detail}", hint="Take a model that supports tools.")
    if detail.rstrip(".").lower().endswith("connection error"):
        # litellm calls a refused connection a failure of the provider's.
        names.add("APIConnectionError")
        names.discard("InternalServerError")
    for name, message, hint in _KINDS:
        if name in names:
            told = hint.format(key=key_variable(model), wait=_wait(error))
            return ModelError(f"{message.format(model=model)}: {detail}", hint=told)
    return ModelError(f"{model} failed: {detail}", hint="Try again, or take another model.")


def key_variable(model: str) -> str:
    """The environment variable a provider's key is usually in."""
    provider = model.partition("/")[0] if "/" in model else "openai"
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def _detail(error: BaseException) -> str:
    """The provider's words without litellm's prefixes, and without anything that looks like a key."""
    text = str(getattr(error, "message", "") or error)
    words = _REDACTOR.text(text.rpartition("Exception - ")[2] or text)
    return " ".join(words.split())[:_LIMIT]


def _is_missing_key(detail: str) -> bool:
    low = detail.lower()
    return any(
        sign in low
        for sign in ("api_key client option must be set", "missing credentials", "missing anthropic api key")
    )


def _is_tool_refusal(detail: str) -> bool:
    low = detail.lower()
    return "tool" in low and any(
        sign in low for sign in ("not support", "unsupported", "no endpoints found that support")
    )


def _wait(error: BaseException) -> str:
    headers = getattr(error, "litellm_response_headers", None) or {}
    seconds = headers.get("retry-after")
    return f" {seconds} s" if seconds else ""
