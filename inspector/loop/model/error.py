"""Turns litellm's exceptions into a ModelError: one line that says what happened, and what to try."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from inspector.core.error import ModelError
from inspector.loop.model.failure import Failure, read_failure
from inspector.loop.model.failure_kind import KINDS, UNKNOWN_FAILURE, Kind
from inspector.tokens.model_file import model_entry, shipped_models

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
    return ModelError(_message(kind, failure, asked), hint=_hint(kind, failure, asked), raw=failure.raw)


def broke_off(asked: Asked) -> ModelError:
    """The error for a stream that ended before the answer was complete."""
    return ModelError(f"{asked.who} stopped in the middle of its answer", hint="Try again.")


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
    hint = f"Set {variables} in the environment, or use `demo/planner`, which needs none."
    return ModelError(f"no key for {asked.model}", hint=hint, raw=raw)


def _message(kind: Kind, failure: Failure, asked: Asked) -> str:
    """Who did what, with the status, and the provider's words if they add something."""
    said = _filled(kind.message, failure, asked)
    status = f" ({failure.status})" if failure.is_refusal else ""
    wait = f": try again in {failure.wait}" if kind.waits and failure.wait else ""
    words = f": {failure.sentence}" if kind.quotes and not wait and _adds(failure) else ""
    return f"{said}{status}{wait}{words}"


def _hint(kind: Kind, failure: Failure, asked: Asked) -> str:
    is_ollama = asked.provider == "ollama" and kind.ollama_hint
    return _filled(kind.ollama_hint if is_ollama else kind.hint, failure, asked)


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
