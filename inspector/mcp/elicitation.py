"""What servers ask a person: forms, whose fields are read from a flat schema, and links; what to look at."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, Final, Literal, Protocol
from unicodedata import normalize
from urllib.parse import urlsplit

from msgspec import Struct, field
from msgspec.structs import replace

from inspector.config.suspect import METADATA, asks_for_a_secret, metadata_address, speaks_as_toolsight
from inspector.core.secret_value import looks_secret
from inspector.core.server import LOOPBACK
from inspector.core.settings import ClientCapabilities
from inspector.schema.json_value import JsonObject, as_list, as_object, as_text
from inspector.schema.reading import names
from inspector.schema.schema import checked

LONGEST_MESSAGE: Final = 4_000
"""Characters of a server's message that are shown and recorded."""
LONGEST_ADDRESS: Final = 8_000
"""Characters of an address that a person can be asked to visit: it is always shown whole."""
QUESTIONS_A_CALL: Final = 5
"""Questions that a server may ask the person during one tool call, whose time stands still meanwhile."""
# ASCII that a host can have; browsers decode or refuse the rest, so that they go elsewhere than it looks.
_HOST = re.compile(r"[A-Za-z0-9._:\[\]-]*")

_HOST_PART = re.compile(r"[^/\\]*")
_PATH_PARAMETER = re.compile(r";[^/]*")


class Action(StrEnum):
    """The three outcomes: answered, refused, and dismissed without a choice."""

    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"


class FormRequest(Struct, frozen=True):
    """A server asks for values; `schema` is its flat JSON Schema. All of it is the server's own text.

    With `is_excess`, its running calls have asked as often as they may.
    """

    wants: ClassVar[str] = "fill in a form"
    server: str
    message: str
    schema: JsonObject
    is_excess: bool = False


class LinkRequest(Struct, frozen=True):
    """A server asks the person to visit an address.

    With `is_excess`, its running calls have asked as often as they may.
    """

    wants: ClassVar[str] = "open a link"
    server: str
    message: str
    url: str
    is_excess: bool = False


ElicitationRequest = FormRequest | LinkRequest


def impersonation(server: str, text: str) -> str:
    """The warning about a server's text that names Toolsight; "" for any other text."""
    if not speaks_as_toolsight(text):
        return ""
    return (
        f"It mentions Toolsight, but {server} wrote it. Toolsight never asks for passwords or keys this way."
    )


class ElicitationAnswer(Struct, frozen=True):
    """What the person answered; `content` are the values of an accepted form.

    `why` says why nobody was asked, if so.
    """

    action: Action
    content: JsonObject | None = None
    why: str = ""


class Relay(Protocol):
    """Another client that a session works for: it answers what servers ask, and follows their tasks."""

    def declares(self, capabilities: ClientCapabilities) -> ClientCapabilities:
        """What of this is declared with the call at hand; in any thread, in the context of the call."""

    def takes(self, server: str, requests: Mapping[str, JsonObject]) -> bool:
        """Whether it can be asked all of these requests, which are as the protocol writes them."""

    async def answers(self, server: str, requests: Mapping[str, JsonObject]) -> JsonObject:
        """Its answers as they came, by the requests' keys; some may be missing. Raises ClientRefusal."""

    def follows(self) -> bool:
        """Whether it follows the task of the call at hand; in any thread, in the context of the call."""

    def task(self, task: JsonObject) -> None:
        """The task of the call at hand, as its server described it now."""


CANCELLED: Final = ElicitationAnswer(Action.CANCEL)
DECLINED: Final = ElicitationAnswer(Action.DECLINE)


class Address(Struct, frozen=True):
    """An address in the parts that a person has to look at: before the host, the host, and the rest.

    `warnings` say what is wrong with it; `opens` is false for what no browser may be given.
    """

    before: str
    host: str
    after: str
    opens: bool = True
    warnings: tuple[str, ...] = ()


def address(url: str) -> Address:
    """Split an address of a server; a text that is no http or https address opens nothing.

    Nor does one that browsers read in another way than it is split here.
    """
    if len(url) > LONGEST_ADDRESS:
        return _closed(url, f"it is longer than {LONGEST_ADDRESS:,} characters, too long to show in full")
    if "\\" in url:
        return _closed(url, "it has a backslash, which browsers read as /, so it may lead to another host")
    try:
        parts = urlsplit(url)
        host, scheme = parts.hostname or "", parts.scheme
        name = parts.netloc.rpartition("@")[2]
    except ValueError:
        return _closed(url, "this is not an address")
    if scheme not in ("http", "https") or not host or not url.isprintable() or any(map(str.isspace, url)):
        return _closed(url, "this is not a web address, so nothing can open it")
    if not _HOST.fullmatch("".join(filter(str.isascii, normalize("NFKC", name)))):
        return _closed(url, "its host has invalid characters, so it may lead elsewhere")
    before, found, after = url.partition(name)
    if "@" in parts.netloc:
        lead, found, after = url.partition(f"@{name}")
        before, found = f"{lead}@", name
    return Address(before, found, after, warnings=tuple(_warnings(scheme, host, parts.netloc)))


def recorded_address(url: str) -> str:
    """An address without what may be valid once only: sign-in data and the values of its parameters."""
    lead, mark, rest = url.partition("#")
    lead, sign, query = lead.partition("?")
    scheme, slashes, place = lead.partition("//")
    host = _HOST_PART.match(place)
    end = host.end() if host else 0
    place = place[:end].rpartition("@")[2] + _PATH_PARAMETER.sub(";…", place[end:])
    given = "&".join(_parameter(pair) for pair in query.split("&")) if query else ""
    return f"{scheme}{slashes}{place}{sign}{given}{mark}{'…' if rest else ''}"


def _parameter(pair: str) -> str:
    """A parameter without its value; one without a sign is all value."""
    name, sign, value = pair.partition("=")
    return f"{name}={'…' if value else ''}" if sign else "…"


def _closed(url: str, why: str) -> Address:
    return Address(url, "", "", opens=False, warnings=(why,))


def _warnings(scheme: str, host: str, netloc: str) -> list[str]:
    found = []
    if scheme == "http" and host not in LOOPBACK:
        found.append("what you type there is sent unencrypted (http)")
    if "@" in netloc:
        found.append("the text before @ is not the host")
    if metadata_address(host):
        found.append(f"its host {METADATA}")
    if not host.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        found.append("its host has letters from other scripts and may imitate another host")
    return found


FieldKind = Literal["string", "integer", "number", "boolean", "choice", "choices"]
MAX_FIELDS = 100
_KINDS: Mapping[str, FieldKind] = {"integer": "integer", "number": "number", "boolean": "boolean"}
_TYPES: Mapping[FieldKind, str] = {"choice": "string", "choices": "array"}
_SECRET = "It seems to ask for a secret ({}), which a form must never do. Decline, or leave it empty."


class FormField(Struct, frozen=True):
    """One value that a server asks for. `options` are the values of a choice with their titles.

    `schema` is what a value has to fit.
    """

    name: str
    kind: FieldKind = "string"
    title: str = ""
    description: str = ""
    required: bool = False
    default: Any = None
    options: tuple[tuple[str, str], ...] = ()
    format: str = ""
    schema: JsonObject = field(default_factory=dict)

    @property
    def is_secret(self) -> bool:
        """Whether it asks for what a form must not ask for: a password, a key, a token."""
        texts = (self.name, self.title, self.description)
        return (
            self.format == "password"
            or looks_secret(self.name)
            or looks_secret(self.title)
            or any(map(asks_for_a_secret, texts))
        )

    def problem(self, value: Any) -> str:
        """What is wrong with a value; "" for nothing. Formats are left to the server."""
        found = checked(self.schema, value, most=1)
        return found.reasons[0].removeprefix("$: ") if found.fits is False else ""


def form_fields(schema: JsonObject) -> tuple[FormField, ...]:
    """The fields in the schema's order; a form of a server that floods is cut at MAX_FIELDS."""
    required = names(schema.get("required"))
    entries = list(as_object(schema.get("properties")).items())[:MAX_FIELDS]
    return tuple(_field(str(name), part, name in required) for name, part in entries)


def form_warnings(request: FormRequest, fields: Sequence[FormField]) -> tuple[str, ...]:
    """What to look at before filling in a form: what it asks for, and in whose name."""
    secret = [field.title or field.name for field in fields if field.is_secret]
    if not secret and asks_for_a_secret(request.message):
        secret = ["its text says so"]
    parts = (part for field in fields for part in (field.name, field.title, field.description))
    asked = _SECRET.format(", ".join(secret)) if secret else ""
    said = "\n".join((request.message, *parts))
    return tuple(filter(None, (asked, impersonation(f"the server {request.server}", said))))


def without_secrets(fields: tuple[FormField, ...], content: JsonObject) -> JsonObject:
    """The answers to record: those to fields that ask for a secret are left out."""
    kept = {field.name for field in fields if not field.is_secret}
    return {name: value for name, value in content.items() if name in kept}


def _field(name: str, part: object, required: bool) -> FormField:
    if not isinstance(part, Mapping):
        return FormField(name, required=required)
    kind, options = _kind(part)
    known = FormField(
        name,
        kind,
        as_text(part.get("title")),
        as_text(part.get("description")),
        required,
        options=options,
        format=as_text(part.get("format")),
        # Where the schema contradicts itself, it is as it is shown.
        schema={**part, "type": _TYPES.get(kind, kind)},
    )
    default = part.get("default")
    # What cannot be checked is no default either.
    return replace(known, default=default) if checked(known.schema, default).fits else known


def _kind(part: Mapping[str, Any]) -> tuple[FieldKind, tuple[tuple[str, str], ...]]:
    if part.get("type") == "array":
        return "choices", tuple(_options(as_object(part.get("items"))))
    if options := tuple(_options(part)):
        return "choice", options
    return _KINDS.get(str(part.get("type")), "string"), ()


def _options(part: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The values with their titles: `enum`, `enum` with `enumNames`, or `oneOf`/`anyOf` of constants."""
    if isinstance(values := part.get("enum"), list):
        titles = as_list(part.get("enumNames"))
        pairs = zip(values, titles if len(titles) == len(values) else values, strict=True)
        yield from ((value, str(title)) for value, title in pairs if isinstance(value, str))
        return
    for keyword in ("oneOf", "anyOf"):
        for option in map(as_object, as_list(part.get(keyword))):
            if isinstance(value := option.get("const"), str):
                yield value, as_text(option.get("title")) or value
