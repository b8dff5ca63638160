"""A question that a server asks the person through its client (elicitation): by form, or by address."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from unicodedata import normalize
from urllib.parse import urlsplit

from inspector.config.suspect import METADATA, metadata_address, speaks_as_toolsight
from inspector.schema.json_value import JsonObject

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


@dataclass(frozen=True, slots=True)
class FormRequest:
    """A server asks for values; `schema` is its flat JSON Schema. All of it is the server's own text.

    With `is_excess`, its running calls have asked as often as they may.
    """

    server: str
    message: str
    schema: JsonObject
    is_excess: bool = False


@dataclass(frozen=True, slots=True)
class LinkRequest:
    """A server asks the person to visit an address. `id` names the question; "" since 2026-07-28.

    With `is_excess`, its running calls have asked as often as they may.
    """

    server: str
    message: str
    url: str
    id: str = ""
    is_excess: bool = False


ElicitationRequest = FormRequest | LinkRequest


def impersonation(server: str, text: str) -> str:
    """The warning about a server's text that names Toolsight; "" for any other text."""
    if not speaks_as_toolsight(text):
        return ""
    return (
        f"It mentions Toolsight, but {server} wrote it. Toolsight never asks for passwords or keys this way."
    )


@dataclass(frozen=True, slots=True)
class ElicitationAnswer:
    """What the person answered; `content` are the values of an accepted form.

    `why` says why nobody was asked, if so.
    """

    action: Action
    content: JsonObject | None = None
    why: str = ""


CANCELLED: Final = ElicitationAnswer(Action.CANCEL)
DECLINED: Final = ElicitationAnswer(Action.DECLINE)


@dataclass(frozen=True, slots=True)
class Address:
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
    if scheme == "http" and host not in ("localhost", "127.0.0.1", "::1"):
        found.append("what you type there is sent unencrypted (http)")
    if "@" in netloc:
        found.append("the text before @ is not the host")
    if metadata_address(host):
        found.append(f"its host {METADATA}")
    if not host.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        found.append("its host has letters from other scripts and may imitate another host")
    return found
