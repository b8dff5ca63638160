"""Turns litellm's exceptions into a ModelError: one line that says what happened, and what to try."""

import re
import tomllib
from collections.abc import Sequence
from http import HTTPStatus
from importlib.resources import files

from msgspec import Struct, convert

from inspector.core.error import FailureKind, ModelError
from inspector.core.number import duration
from inspector.core.ports import OWN_ADDRESS
from inspector.loop.model.failure import Failure, host_of, read_failure
from inspector.tokens.accounting import model_entry, shipped_models


class Kind(Struct, frozen=True):
    """A kind of failure: it has one of the statuses or exception classes, or its text matches.

    `message` and the hints are for `str.format`; the message is what a person is told, without the status.
    With `quotes` the provider's words follow. With a `failure` the same request may succeed a little later.
    """

    message: str
    hint: str
    statuses: tuple[int, ...] = ()
    classes: tuple[str, ...] = ()
    pattern: str = ""
    quotes: bool = True
    failure: FailureKind | None = None

    def fits(self, failure: Failure) -> bool:
        """Whether a failure is of this kind."""
        return bool(
            failure.status in self.statuses
            or failure.names.intersection(self.classes)
            or (self.pattern and re.search(self.pattern, failure.text, re.IGNORECASE))
        )


_TEXTS = tomllib.loads(files(__package__).joinpath("kinds.toml").read_text(encoding="utf-8"))
KINDS = convert(_TEXTS["kind"], tuple[Kind, ...])
"""The first that fits counts."""


_MISSING_KEY = re.compile(
    r"missing\b.{0,30}\b(?:api[ _]?key|credentials)|api_key client option must be set"
    r"|unable to locate credentials",
    re.IGNORECASE,
)


class Asked(Struct, frozen=True):
    """Who was asked for an answer.

    `keys` are the environment variables that the provider reads and that are not set.
    """

    model: str
    api_base: str = ""
    keys: Sequence[str] = ()

    @property
    def provider(self) -> str:
        """The provider's name, as in the model's or as litellm lists it."""
        listed = str(model_entry(shipped_models(), self.model).get("litellm_provider") or "")
        return self.model.partition("/")[0] if "/" in self.model else listed or self.model

    @property
    def who(self) -> str:
        """The provider, and where it is if that is not its own address."""
        return f"{self.provider} at {host_of(self.api_base)}" if self.api_base else self.provider

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
    if _MISSING_KEY.search(failure.text) or ("AuthenticationError" in failure.names and asked.keys):
        return _no_key(asked, failure.raw)
    kind = next((kind for kind in KINDS if kind.fits(failure)), KINDS[-1])
    return ModelError(
        _message(kind, failure, asked),
        hint=_filled(kind.hint, failure, asked),
        raw=failure.raw,
        failure=kind.failure,
        retry_after=failure.wait,
    )


def broke_off(asked: Asked) -> ModelError:
    """The error for a stream that ended before the answer was complete."""
    message = f"{asked.who} stopped in the middle of its answer"
    return ModelError(message, hint="Try again.", failure=FailureKind.TRANSPORT)


def no_answer(asked: Asked) -> ModelError:
    """The error for a stream without anything in it."""
    hint = "Check that --api-base is the address of a model server, and that it streams."
    return ModelError(f"{asked.who} did not send a model's answer", hint=hint)


def not_processed(asked: Asked) -> ModelError:
    """The error for a 422 of a provider that speaks as OpenAI does: litellm keeps what it said to itself."""
    hint = "Check what the model supports; its server's log shows what it rejected."
    return ModelError(f"{asked.who} rejected the request (422)", hint=hint)


def no_tools(model: str) -> ModelError:
    """The error for a model that does not support tools."""
    hint = "Use a model that supports tool calls."
    return ModelError(f"{model} does not support tools: its provider does not accept them", hint=hint)


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
    """Who did what, with the status, how long to wait and the provider's words."""
    status = f" ({failure.status})" if failure.status >= HTTPStatus.BAD_REQUEST else ""
    wait = f": try again in {duration(failure.wait)}" if failure.wait else ""
    words = f": {failure.sentence}" if kind.quotes and failure.sentence and not wait else ""
    return f"{_filled(kind.message, failure, asked)}{status}{wait}{words}"


def _filled(text: str, failure: Failure, asked: Asked) -> str:
    """Fill in a text of ours; what is filled in is not looked at again."""
    host = failure.host or host_of(asked.api_base)
    place = f"{asked.provider} at {host}" if host else asked.provider
    return text.format(
        who=asked.who, place=place, model=asked.model, name=asked.name, key=asked.key, reason=failure.reason
    )
