"""What is not what it seems: metadata addresses, look-alikes, impersonation, telling variables."""

import re
import socket
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from pathlib import Path
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote, urlsplit

METADATA: Final = "is a cloud metadata address, which hands out this machine's credentials"
_METADATA_HOSTS = (
    "metadata metadata.google.internal metadata.goog instance-data instance-data.ec2.internal "
    "metadata.tencentyun.com metadata.platformequinix.com metadata.packet.net"
)
# Amazon, Google, Azure, DigitalOcean and others; then Alibaba, Oracle, Azure's host; then those over IPv6.
_METADATA_ADDRESSES = (
    "169.254.0.0/16 100.100.100.200/32 192.0.0.192/32 168.63.129.16/32 "
    "fe80::/10 fd00:ec2::254/128 fd20:ce::254/128"
)
_METADATA_NETWORKS = tuple(map(ip_network, _METADATA_ADDRESSES.split()))
_EMBEDDING_IPV4 = ip_network("64:ff9b::/96")
# Names under these domains stand for the address that is written in them.
_ADDRESS_IN_NAME = re.compile(r"(?:^|[.-])(\d+[.-]\d+[.-]\d+[.-]\d+)\.(?:nip|sslip|xip)\.io")
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>]+")
_PLAIN_HOST = re.compile(r"(?:.*=)?([0-9A-Fa-f.:\[\]]*[.:][0-9A-Fa-f.:\[\]]*)(?:/.*)?")

# Scopes and owners of npm, GitHub and container registries under which widely used servers are published.
_PUBLISHERS = (
    "modelcontextprotocol anthropic-ai anthropics openai github microsoft azure google googleapis "
    "google-cloud aws aws-sdk awslabs amazon cloudflare stripe supabase notionhq sentry playwright "
    "executeautomation browserbasehq upstash heroku elastic mongodb mongodb-js atlassian slack figma linear "
    "shopify vercel docker grafana datadog redis snowflake databricks salesforce hubspot twilio paypal "
    "square brave perplexity-ai huggingface langchain hashicorp kubernetes gitlab neondatabase apify "
    "firecrawl"
)
_KNOWN = tuple(_PUBLISHERS.split())
_SCOPE = re.compile(r"@([^/@\s]+)/")
_IMAGE_OWNER = re.compile(r"(?:(?:ghcr|docker|quay)\.io/)?([A-Za-z0-9_-]+)/[A-Za-z0-9._-]+(?:[:@].*)?")
_NAMESPACE = re.compile(r"io\.github\.([^/]+)/")
_AFFIX = re.compile(r"^(?:the|real)-|-(?:official|inc|team|hq|org|ai|mcp|servers?)$")
# Letters of Cyrillic and Greek, digits and signs, and the letters that they look like; i is taken for l.
_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u0456\u0455\u0458\u043a\u0442\u043c\u043d\u0432\u0501\u0261"
    "\u03bf\u03b1\u03bd\u03b9\u03ba\u03c1\u03c4"
    "01!|3$5i",
    "aeopcxylsjktmhbdgoavlkptolllessl",
)
_PAIRS = (("rn", "m"), ("vv", "w"), ("cl", "d"))
# Of the shortest names that may have a slip, so much stays the same with one.
_SHORT, _LONG, _ALIKE_SHARE = 6, 12, 0.83

_SECRET = re.compile(
    r"pass\s?word|pass\s?phrase|passcode|credential|private key|(?:api|access|secret|ssh|license)[ _-]?key"
    r"|(?:access|auth\w*|bearer|api|session|refresh|security|personal) token|(?:seed|recovery) phrase"
    r"|one[ -]time (?:code|password)|\b(?:2fa|mfa|otp|cvv|pin) ?(?:code|number)?\b"
)


def metadata_address(host: str) -> bool:
    """Whether a host is where a cloud hands its machines their credentials, however it is written."""
    name, address = meant(host)
    if name in _METADATA_HOSTS.split():
        return True
    return address is not None and any(address in network for network in _METADATA_NETWORKS)


def meant(host: str) -> tuple[str, IPv4Address | IPv6Address | None]:
    """The name that a host is, however it is written, and the address that this name says, if it does."""
    name = normalize("NFKC", unquote(host)).strip("[]").rstrip(".").lower().partition("%")[0]
    inside = _ADDRESS_IN_NAME.search(name)
    return name, _ip(inside[1].replace("-", ".") if inside else name)


def metadata_hosts(text: str) -> Iterator[str]:
    """The hosts of cloud metadata in a text: in its addresses, or as all of it or of what is behind `=`."""
    plain = _PLAIN_HOST.fullmatch(text)
    written = [*_ADDRESS.findall(text), *([f"//{plain[1]}"] if plain is not None else ())]
    hosts = [host for each in written if (host := _host(each))] + ([plain[1]] if plain is not None else [])
    yield from dict.fromkeys(filter(metadata_address, hosts))


@lru_cache(maxsize=1_024)
def resembled(owner: str) -> str:
    """The well-known publisher that another one's name looks like; "" for a name that looks like none."""
    if owner.lower() in _KNOWN:
        return ""
    name = normalize("NFKC", owner).lower()
    plain = {skeleton(name), skeleton(_AFFIX.sub("", name))}
    return next((known for known in _KNOWN if any(_is_like(one, skeleton(known)) for one in plain)), "")


def lookalikes(words: Sequence[str], name: str = "", *, images: bool = False) -> Iterator[tuple[str, str]]:
    """The publishers in the words of a command, and in a plugin's name, that look like a well-known one.

    Each comes with that one. With `images` a word may be a container image.
    """
    owners = [found[1] for word in words if (found := _SCOPE.match(word))]
    owners += [found[1] for word in words if images and (found := _IMAGE_OWNER.fullmatch(word))]
    owners += _NAMESPACE.findall(name)
    for owner in dict.fromkeys(owners):
        if known := resembled(owner):
            yield owner, known


def speaks_as_toolsight(text: str) -> bool:
    """Whether a text names Toolsight, also in letters that only look like it."""
    return skeleton("toolsight") in skeleton(text)


def asks_for_a_secret(text: str) -> bool:
    """Whether a text speaks of a password, a key or a token."""
    return _SECRET.search(normalize("NFKC", text).lower()) is not None


def _host(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _ip(name: str) -> IPv4Address | IPv6Address | None:
    """The address that a host is, also in the spellings of old: decimal, hexadecimal, octal, shortened."""
    try:
        address = ip_address(name)
    except ValueError:
        try:
            return IPv4Address(socket.inet_aton(name))
        except (OSError, ValueError):
            return None
    if isinstance(address, IPv6Address):
        if address in _EMBEDDING_IPV4:
            return IPv4Address(int(address) & 0xFFFFFFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _is_like(name: str, known: str) -> bool:
    """Whether a name could be read as the known one, with a slip or two in a long one."""
    slips = 0 if len(known) < _SHORT else 1 if len(known) < _LONG else 2
    if abs(len(name) - len(known)) > slips:
        return False
    return name == known or (slips > 0 and SequenceMatcher(None, name, known).ratio() >= _ALIKE_SHARE)


def skeleton(text: str) -> str:
    """The text in the letters that it looks like, and nothing else: equal for texts that look alike."""
    seen = normalize("NFKC", text).lower().translate(_ALIKE)
    for pair, letter in _PAIRS:
        seen = seen.replace(pair, letter)
    return re.sub(r"[^a-z0-9]", "", seen)


_CHOOSES: Mapping[str, str] = tomllib.loads(
    Path(__file__).with_name("chooses.toml").read_text(encoding="utf-8")
)
# Settings of package managers that are credentials, whose values are nobody's to read.
_CREDENTIALS = ("*AUTH*", "*TOKEN*", "*PASSWORD*", "*USERNAME*")


def chooses(name: str) -> str:
    """What the value of this variable chooses, as the end of "chooses ..."; "" for most variables."""
    upper = name.upper()
    for reason, names in _CHOOSES.items():
        if any(fnmatchcase(upper, known) for known in names.split()):
            return "" if any(fnmatchcase(upper, known) for known in _CREDENTIALS) else reason
    return ""
