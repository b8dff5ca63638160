"""What a server offers beside tools: resources, their templates and prompts, listed, read and filled in.

Its answers are read entry by entry, as they came: one that is invalid costs itself, never the list. A
sign of life is asked for here, too.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Literal

from msgspec import Struct, field

from inspector.core.error import ProtocolError, ToolsightError
from inspector.core.message import Attachment, ToolResult
from inspector.core.number import count
from inspector.core.server import Era, ServerInfo
from inspector.mcp.pace import size_text
from inspector.mcp.port import ServerLink
from inspector.schema.json_value import JsonObject, as_list, as_object, as_objects, as_text
from inspector.schema.reading import names

# What is listed.

Redact = Callable[[str], str]
Kind = Literal["resources", "prompts", "skills"]
KINDS: tuple[Kind, ...] = ("resources", "prompts")
"""Those that a server declares by their names; skills are an extension (SEP-2640)."""
MOST_LISTED = 10_000
# No form asks for more.
_MOST_ARGUMENTS = 50
_LISTS: Mapping[Kind, tuple[tuple[str, str, str], ...]] = {
    "resources": (
        ("resources/list", "resources", "uri"),
        ("resources/templates/list", "resourceTemplates", "uriTemplate"),
    ),
    "prompts": (("prompts/list", "prompts", "name"),),
    "skills": (("skills/list", "skills", "uri"),),
}


def declares(info: ServerInfo, capability: str) -> bool:
    """Whether a server says that it has, say, `resources`."""
    return any(each.partition(" ")[0] == capability for each in info.capabilities)


class Argument(Struct, frozen=True):
    """A variable of a template or an argument of a prompt."""

    name: str
    description: str = ""
    required: bool = False


class Offer(Struct, frozen=True):
    """An entry of a list. `id` is its URI, its URI template or a prompt's name; `size` is in bytes.

    A skill's size is that of its `files`; its `digest` is that of its SKILL.md, "" if it has none.
    """

    list: str
    id: str
    name: str
    description: str = ""
    mime: str = ""
    size: int | None = None
    arguments: tuple[Argument, ...] = ()
    files: int = 0
    digest: str = ""

    @property
    def key(self) -> str:
        """What tells it from every other entry of the server."""
        return f"{self.list} {self.id}"

    @property
    def is_template(self) -> bool:
        return self.list == "resourceTemplates"

    @property
    def is_prompt(self) -> bool:
        return self.list == "prompts"

    def asks(self) -> tuple[Argument, ...]:
        """What has to be filled in to read it. Raises ProtocolError for what cannot be."""
        return _variables(self.id) if self.is_template else self.arguments

    def uri(self, values: Mapping[str, str]) -> str:
        """The URI that a template gives with these values (RFC 6570)."""
        return _template(self.id).expand(values) if self.is_template else self.id


def _template(text: str) -> Any:
    from mcp.shared.uri_template import InvalidUriTemplate, UriTemplate

    try:
        return UriTemplate.parse(text)
    except InvalidUriTemplate as error:
        raise ProtocolError(f"The URI template cannot be filled in: {error}") from error


def _variables(text: str) -> tuple[Argument, ...]:
    """A template's variables: those of a query may be left out."""
    return tuple(
        Argument(one.name, required=one.operator not in ("?", "&")) for one in _template(text).variables
    )


class Offered(Struct, frozen=True):
    """A list as far as it could be read, and what was wrong with it or is left out."""

    offers: tuple[Offer, ...] = ()
    troubles: tuple[str, ...] = ()


class _Found:
    """Takes a list's pages one after the other; each entry counts once."""

    def __init__(self, redact: Redact) -> None:
        self._redact = redact
        self.offers: dict[str, Offer] = {}
        self.troubles: list[str] = []
        self._numbers = Counter[str]()
        self._invalid = self._left = 0

    def is_full(self, name: str) -> bool:
        return self._numbers[name] >= MOST_LISTED

    def take(self, entries: object, name: str, key: str) -> None:
        if not isinstance(entries, list):
            self.troubles.append(f"a page has no {name}")
            return
        for entry in entries:
            offer = _offer(entry, name, key, self._redact)
            if offer is None:
                self._invalid += 1
            elif offer.key in self.offers:
                continue
            elif self.is_full(name):
                self._left += 1
            else:
                self.offers[offer.key] = offer
                self._numbers[name] += 1

    def told(self) -> Offered:
        told = [f"{count(self._invalid, 'entry', 'entries')} left out: invalid"] if self._invalid else []
        if self._left:
            told.append(f"{self._left:,} more left out: at most {MOST_LISTED:,} are shown")
        return Offered(tuple(self.offers.values()), (*self.troubles, *told))


def _offer(entry: object, name: str, key: str, redact: Redact) -> Offer | None:
    id_ = entry.get(key) if isinstance(entry, Mapping) else None
    if not isinstance(entry, Mapping) or not isinstance(id_, str) or not id_:
        return None
    told = {**as_object(entry.get("frontmatter")), **entry}
    files = as_objects(entry.get("resources"))
    sizes = [size for one in files or [dict(entry)] if type(size := one.get("size")) is int]
    return Offer(
        name,
        id_,
        redact(as_text(told.get("title")) or as_text(told.get("name")) or id_),
        redact(as_text(told.get("description"))),
        as_text(entry.get("mimeType")),
        sum(sizes) if sizes else None,
        _arguments(as_list(entry.get("arguments"))),
        len(files),
        next((as_text(one.get("digest")) for one in files if one.get("uri") == id_), ""),
    )


def _arguments(entries: list[Any]) -> tuple[Argument, ...]:
    asked = [each for each in entries[:_MOST_ARGUMENTS] if isinstance(each, Mapping)]
    named = {as_text(each.get("name")): each for each in asked if as_text(each.get("name"))}
    return tuple(
        Argument(name, as_text(each.get("description")), each.get("required") is True)
        for name, each in named.items()
    )


# What is read.


class Read(Struct, frozen=True):
    """What was read: `text` as it is shown, what it is, what a model would get, and the first bytes in it.

    `digest` is that of a resource that is one text, as skills have it (SEP-2640).
    """

    text: str
    told: str
    counted: ToolResult
    attachment: Attachment | None = None
    digest: str = ""


def _resource(raw: JsonObject, redact: Redact) -> Read:
    from inspector.mcp.client.translate import tool_result

    contents = raw.get("contents")
    if not isinstance(contents, list):
        raise ProtocolError("resources/read: the answer has no contents")
    known = [each for each in contents if isinstance(each, Mapping)]
    blocks: list[JsonObject] = [{"type": "resource", "resource": each} for each in contents]
    digest = ""
    if len(contents) == len(known) == 1 and isinstance(text := known[0].get("text"), str):
        blocks = [{"type": "text", "text": text}]
        digest = f"sha256:{sha256(text.encode('utf-8', 'replace')).hexdigest()}"
    result = tool_result({"content": blocks})
    size = sum(len(as_text(each.get("text")).encode("utf-8", "replace")) for each in known)
    size += sum(each.size for each in result.attachments)
    mime = ", ".join(dict.fromkeys(as_text(each.get("mimeType")) or "no type" for each in known))
    attachment = next(iter(result.attachments), None)
    return Read(redact(result.text), f"{mime}   {size_text(size)}", result, attachment, digest)


def _messages(raw: JsonObject, redact: Redact) -> Read:
    from inspector.mcp.client.translate import tool_result

    messages = raw.get("messages")
    if not isinstance(messages, list):
        raise ProtocolError("prompts/get: the answer has no messages")
    known = [each if isinstance(each, Mapping) else {"content": each} for each in messages]
    results = [(as_text(each.get("role")) or "no role", tool_result(each)) for each in known]
    shown = "\n\n".join(f"{role}:\n{result.text}" for role, result in results)
    attachment = next((one for _, result in results for one in result.attachments), None)
    is_cut = any(result.whole for _, result in results)
    whole = sum(result.whole or len(result.text) for _, result in results) if is_cut else 0
    counted = ToolResult("\n".join(result.text for _, result in results), whole=whole)
    return Read(redact(shown), count(len(known), "message"), counted, attachment)


# Seconds that a proposal may take while somebody types.
_PROMPT = 5.0


class Offers(Struct, frozen=True):
    """The resources and prompts of a connected server. `seconds` is how long each answer may take.

    What is read is `redact`ed: it may repeat what the server was started with.
    """

    link: ServerLink
    seconds: float
    redact: Redact = field(default=lambda text: text)

    async def listed(self, kind: Kind) -> Offered:
        """List all pages, up to `MOST_LISTED` entries."""
        found = _Found(self.redact)
        for method, name, key in _LISTS[kind]:
            try:
                await self._pages(found, method, name, key)
            except ToolsightError as error:
                # A server need not have templates.
                if not (name == "resourceTemplates" and "-32601" in error.message):
                    found.troubles.append(error.message)
        return found.told()

    async def _pages(self, found: _Found, method: str, name: str, key: str) -> None:
        params: dict[str, Any] = {}
        while True:
            page, known = await self.link.request(method, params, timeout=self.seconds), len(found.offers)
            await asyncio.to_thread(found.take, page.get(name), name, key)
            cursor = page.get("nextCursor")
            if cursor is None:
                return
            if not isinstance(cursor, str):
                why = "the cursor of the next one is not text"
                break
            if found.is_full(name):
                why = f"at most {MOST_LISTED:,} are shown"
                break
            if len(found.offers) == known:
                why = "the last one read lists nothing new"
                break
            params = {"cursor": cursor}
        found.troubles.append(f"{method} has more pages: {why}")

    async def read(self, uri: str) -> Read:
        """Read a resource. Raises ToolsightError."""
        raw = await self.link.request("resources/read", {"uri": uri}, timeout=self.seconds)
        return await asyncio.to_thread(_resource, raw, self.redact)

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> Read:
        """Fill in a prompt. Raises ToolsightError."""
        params = {"name": name, "arguments": dict(arguments)}
        raw = await self.link.request("prompts/get", params, timeout=self.seconds)
        return await asyncio.to_thread(_messages, raw, self.redact)

    async def proposals(
        self, offer: Offer, argument: str, value: str, others: Mapping[str, str]
    ) -> tuple[str, ...]:
        """What the server proposes for an argument that begins with `value`. Raises ToolsightError."""
        ref = {"type": "ref/prompt", "name": offer.id}
        if not offer.is_prompt:
            ref = {"type": "ref/resource", "uri": offer.id}
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": value}}
        if others:
            params["context"] = {"arguments": dict(others)}
        timeout = min(self.seconds, _PROMPT)
        raw = await self.link.request("completion/complete", params, timeout=timeout)
        return tuple(names(as_object(raw.get("completion")).get("values")))


_PING_SECONDS = 5.0


async def ping(link: ServerLink) -> str:
    """Ask a server for a sign of life, and return the method that was answered. Raises ToolsightError.

    Protocol 2026-07-28 has no ping; what a server says of itself is the smallest question left.
    """
    method = "server/discover" if link.info.era is Era.MODERN else "ping"
    await link.request(method, {}, timeout=_PING_SECONDS)
    return method
