"""Which values count as secrets, by their names, and every form in which one may turn up in a text.

A value that is replaced wherever it stands must be one that ordinary text would hardly have. Never replaced
are values of fewer than 4 characters, switches and common words (`true`, `test`, `admin`), numbers of fewer
than 6 digits, paths, and URLs as a whole. Under a name that says it is a secret, anything else counts: a
plain word or number, and what has fewer than 6 characters, only where it stands alone (`tiger`, not in
`tigers`). Under any other name a value counts from 8 characters, unless it is a plain word, a number, an
address or a locale.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from html import escape
from urllib.parse import quote

from inspector.core.text import expression

MARKER = "[redacted]"
SHORTEST = 4
_SHORTEST_PART, _SHORTEST_NUMBER, _SHORTEST_UNNAMED = 6, 6, 8
_CACHED_NAMES = 32_768
_NOTHING: Mapping[str, str] = {}

_WORDS = expression(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_ENDINGS = (
    *("token", "tokens", "key", "keys", "secret", "secrets", "password", "passwords", "passwd", "passphrase"),
    *("credential", "credentials", "cookie", "cookies", "auth", "authorization", "bearer"),
)
_SECRET_WORDS = frozenset({"pass", "pwd", "pat", "jwt"})
_PASSWORD_ENDINGS = ("pass", "pwd")
_NO_PASSWORD = frozenset(
    {"askpass", "bypass", "compass", "encompass", "overpass", "surpass", "trespass", "underpass"}
)
# A name with one of these describes a secret, or means another kind of token or key.
_QUALIFIERS = frozenset(
    {"max", "min", "limit", "limits", "count", "counts", "budget", "total", "num", "number", "length", "size"}
    | {
        "ttl",
        "expiry",
        "expires",
        "timeout",
        "type",
        "path",
        "file",
        "dir",
        "url",
        "uri",
        "endpoint",
        "usage",
    }
    | {"used", "per", "input", "output", "page", "next", "continuation", "public", "primary", "foreign"}
    | {"sort", "partition", "cache", "idempotency", "name"}
)
# In data, a bare `key` is usually an identifier; it holds a secret only next to one of these words.
_KEY_COMPANIONS = frozenset(
    {"api", "access", "secret", "private", "auth", "encryption", "signing", "master", "account", "license"}
    | {"service", "shared", "subscription", "ssh", "deploy", "app", "client", "bot"}
)
_HARMLESS_WORDS = (
    r"(?:true|false|yes|no|on|off|none|null|nil|enabled|disabled|required|optional|basic|bearer|oauth2?|"
    r"string|number|integer|boolean|object|array|token|password|secret|hidden|default|auto)"
)
_HARMLESS = expression(_HARMLESS_WORDS, re.IGNORECASE)
_ORDINARY = expression(
    r"[~.]{0,2}(?:/[^\n]*)?|[A-Za-z]:\\[^\n]*"  # a path
    r"|[+-]?[\d.,_:/ -]+"  # a number, a date, an address
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s@?#]*"  # a URL that carries no credentials
    r"|[a-z]{2,3}(?:[_-][A-Za-z]{2,4})*(?:\.[A-Za-z0-9-]+)?(?:@[a-z]+)?"  # a locale
    r"|[a-z]+|[A-Z]+|[A-Z][a-z]+"  # one plain word
)
# Words and places that any text may have, whatever they are the value of.
_NEVER = expression(
    rf"{_HARMLESS_WORDS}|(?i:tests?|testing|example|sample|demo|dummy|changeme|placeholder|admin|root|users?|guest"
    r"|public|private|local|localhost|dev|development|prod|production|staging|main|master|latest|stable|debug"
    r"|info|warn|warning|error|server|client|name|value|text|file|data|code|echo|postgres|mysql|redis|docker)"
    r"|(?:~|\.{1,2})?/(?:[\w.@ +-]+/)*[\w@ +-]*\.[A-Za-z]\w{0,5}"
    r"|(?:~|\.{1,2})/[^\n]*|[A-Za-z]:\\[^\n]*"
    r"|/(?:etc|usr|var|home|Users|tmp|opt|run|root|mnt|dev|private|Library|bin|srv)\b[^\n]*"
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s@?#]*"
)
_SCHEME = expression(r"(?:basic|bearer|token|digest|apikey)\s+(\S+)", re.IGNORECASE)


class Secrets:
    """The values that are known to be secret, with their names. It only grows; any thread may use it."""

    def __init__(self, secrets: Mapping[str, str] = _NOTHING) -> None:
        """`secrets` maps names, which may begin with that of a server and a dot, to values."""
        self.version = 0
        self.anywhere: dict[str, str] = {}
        self.alone: dict[str, str] = {}
        self.learn(secrets)

    def learn(self, secrets: Mapping[str, str]) -> None:
        """Know these from now on, too; `version` counts the times that this made a difference."""
        anywhere, alone = dict(self.anywhere), dict(self.alone)
        for name, value in secrets.items():
            shown = re.sub(r"[\[\]\s]", "_", name)
            for core in _cores(value):
                if (kept := _kept_in(name, core, anywhere, alone)) is not None:
                    kept.update(dict.fromkeys(_forms(core), shown))
        if (anywhere, alone) != (self.anywhere, self.alone):
            self.anywhere, self.alone = anywhere, alone
            self.version += 1

    def forget(self) -> None:
        """Know nothing, as at the start of a process."""
        self.anywhere, self.alone = {}, {}
        self.version += 1


def is_secret(name: str, value: str) -> bool:
    """Whether a value counts as a secret, by the rule of this module."""
    return _kept_in(name, value, {}, {}) is not None


def _kept_in(name: str, value: str, anywhere: dict[str, str], alone: dict[str, str]) -> dict[str, str] | None:
    """Where a value belongs, by the rule of this module; None if it looks like ordinary text."""
    if len(value.strip()) < SHORTEST or value in MARKER or _NEVER.fullmatch(value):
        return None
    is_named, is_ordinary = looks_secret(name.rpartition(".")[2]), is_ordinary_value(value)
    if not is_named:
        return None if is_ordinary or len(value) < _SHORTEST_UNNAMED else anywhere
    if value.isdecimal() and len(value) < _SHORTEST_NUMBER:
        return None
    return alone if is_ordinary or len(value) < _SHORTEST_PART else anywhere


def _cores(value: str) -> Iterator[str]:
    """A value, and what of it may be said alone: without blanks around it, without a scheme."""
    yield value
    yield value.strip()
    if scheme := _SCHEME.fullmatch(value):
        yield scheme[1]


def _forms(core: str) -> Iterator[str]:
    """How a text may have it: as it is, within JSON, a URL or XML."""
    quoted = quote(core, safe="", errors="surrogatepass")
    yield from (
        core,
        json.dumps(core)[1:-1],
        json.dumps(core, ensure_ascii=False)[1:-1],
        quoted,
        escape(core),
    )


def is_ordinary_value(value: str) -> bool:
    """Whether it is a path, a number, a URL without credentials, a locale or one plain word."""
    return _ORDINARY.fullmatch(value) is not None


def is_harmless(value: str) -> bool:
    """Whether it is a switch, or says what kind of value belongs there."""
    return _HARMLESS.fullmatch(value) is not None


@lru_cache(maxsize=_CACHED_NAMES)
def looks_secret(name: str) -> bool:
    """Whether a variable of this name probably holds a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if _QUALIFIERS.intersection(words):
        return False
    return any(map(_is_secret_word, words))


@lru_cache(maxsize=_CACHED_NAMES)
def names_secret(key: str) -> bool:
    """Whether a key in data holds a secret; stricter than for variables, where `key` alone is enough."""
    if not looks_secret(key):
        return False
    words = [word.lower() for word in _WORDS.findall(key)]
    secret = list(filter(_is_secret_word, words))
    if all(word in ("key", "keys") for word in secret):
        return bool(_KEY_COMPANIONS.intersection(words))
    return True


def _is_secret_word(word: str) -> bool:
    if word.endswith(_PASSWORD_ENDINGS):
        return word not in _NO_PASSWORD
    return word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS)
