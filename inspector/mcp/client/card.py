"""A server's card: what it publishes of itself before anybody connects, held against what it says then.

https://github.com/modelcontextprotocol/experimental-ext-server-card (SEP-2127): a card names the server, its
addresses and protocols, and nothing of it decides anything.
"""

from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2

from inspector.core.error import AuthRequired, Fetched
from inspector.core.redaction import clean
from inspector.core.server import ServerInfo, ServerSpec
from inspector.core.text import one_line, shortened
from inspector.mcp.sign_in.exchange import limited, limits
from inspector.schema.json_value import JsonObject, as_list, as_object, read_object

# What is compressed is not read: it may be a thousand times as large.
_ACCEPTED = {"Accept": "application/mcp-server-card+json, application/json", "Accept-Encoding": "identity"}
_NEEDED = ("$schema", "name", "version", "description")
_SHOWN = 100
_CURE = "Clients that read the card before they connect believe it: make it again with each release."


async def card_documents(spec: ServerSpec, info: ServerInfo) -> tuple[Fetched, ...]:
    """The card of a connected server over HTTP, fetched without credentials; () without one.

    Its `fault` is what it says otherwise than the server.
    """
    async with httpx2.AsyncClient(**limits()) as client:
        for address in _addresses(spec.url):
            try:
                response = await client.get(address, headers=_ACCEPTED, extensions=limited())
            except (httpx2.HTTPError, httpx2.StreamError, AuthRequired):
                continue
            card = read_object(response.content)
            if response.is_success and card.get("name"):
                fault = "; ".join(_faults(card, spec.url, info))
                found = f"{_told(card['name'])} {_told(card.get('version', ''))}".rstrip()
                cure = _CURE if fault else ""
                return (Fetched("its card", address, response.status_code, found, fault, cure),)
    return ()


def _addresses(url: str) -> tuple[str, str]:
    """Where a card is: at the address that is reserved for it, and where many servers have it."""
    parts = urlsplit(url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    reserved = bare._replace(path=f"{bare.path.rstrip('/')}/server-card")
    return reserved.geturl(), bare._replace(path="/.well-known/mcp/server-card.json").geturl()


def _faults(card: JsonObject, url: str, info: ServerInfo) -> Iterator[str]:
    if lacking := [key for key in _NEEDED if not isinstance(card.get(key), str)]:
        yield f"it lacks {', '.join(lacking)}"
    if info.version and card.get("version") not in (None, info.version):
        yield f"it says version {_told(card['version'])}, the server {_told(info.version)}"
    remotes = [as_object(one) for one in as_list(card.get("remotes"))]
    mine = [one for one in remotes if "{" in str(one.get("url")) or _same(str(one.get("url")), url)]
    if remotes and not mine:
        yield f"it names {_told(remotes[0].get('url'))}, not this address"
    protocols = [str(one) for remote in mine for one in as_list(remote.get("supportedProtocolVersions"))]
    if protocols and info.protocol not in protocols:
        yield f"it names the protocols {_told(', '.join(protocols))}, the server speaks {info.protocol}"


def _same(one: str, other: str) -> bool:
    return one.partition("?")[0].rstrip("/") == other.partition("?")[0].rstrip("/")


def _told(text: object) -> str:
    return shortened(one_line(clean(str(text))), _SHOWN)
