"""Keeps secrets out of the record: known values wherever they occur, and whatever looks like a credential."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import quote

from inspector.domain.assigned_secret import MARKS, Assigned, assignments
from inspector.domain.events import Event

# Long because finding, cutting and keeping secrets out of nested values are one idea.

MARKER = "[redacted]"
_MARKER_START = "[redacted"
_SHORTEST_SECRET = 4
_SHORTEST_VALUE = 8
_CACHED_LENGTH = 200
_CACHED_TEXTS = 32_768
_CACHED_ROWS = 64
_LONG_ROW = 50
_CLOSED_TYPES = (float, int, bool, NoneType, Enum)
_HARMLESS_TYPES = frozenset({float, int, bool, NoneType})

_E = TypeVar("_E", bound=Event)
_T = TypeVar("_T")
_Span = tuple[int, int, str]

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_ENDINGS = (
    *("token", "tokens", "key", "keys", "secret", "secrets", "password", "passwords", "passwd", "passphrase"),
    *("credential", "credentials", "cookie", "cookies", "auth", "authorization", "bearer"),
)
_SECRET_WORDS = frozenset({"pass", "pwd", "pat", "jwt"})
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
_HARMLESS = re.compile(
    r"(?:true|false|yes|no|on|off|none|null|nil|enabled|disabled|required|optional|basic|bearer|oauth2?|"
    r"string|number|integer|boolean|object|array|token|password|secret|hidden|default|auto)",
    re.IGNORECASE,
)
_ORDINARY = re.compile(
    r"[~.]{0,2}(?:/[^\n]*)?|[A-Za-z]:\\[^\n]*"  # a path
    r"|[+-]?[\d.,_:/ -]+"  # a number, a date, an address
    r"|[A-Za-z][A-Za-z0-9+.-]*://[^\s@?#]*"  # a URL that carries no credentials
    r"|[a-z]{2,3}(?:[_-][A-Za-z]{2,4})*(?:\.[A-Za-z0-9-]+)?(?:@[a-z]+)?"  # a locale
    r"|[a-z]+|[A-Z]+|[A-Z][a-z]+"  # one plain word
)
_SCHEME = re.compile(r"(?:basic|bearer|token|digest|apikey)\s+(\S+)", re.IGNORECASE)

# What distinguishes a credential from prose: a digit, a change from lower to upper case, or padding.
_MIXED = r"(?=[A-Za-z._~+/-]*(?:\d|=|(?<=[a-z])[A-Z]))"
# Each pattern is tried only if one of its marks occurs (in lower case); group 1, if any, is the secret.
_PATTERNS: tuple[tuple[tuple[str, ...], "re.Pattern[str]"], ...] = (
    (
        ("private key-----",),
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"
            r"(?:[^-]*(?:-(?!----)[^-]*)*-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----"
            r"|(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{40,}(?:\s|\\[nr])*)+)"
        ),
    ),
    (("://",), re.compile(r"://([^/\s:@\"'<>]*:[^/\s@\"'<>]+)@")),
    (
        ("authorization",),
        re.compile(
            r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:basic|bearer|token|digest|apikey)\s+"
            rf"({_MIXED}[A-Za-z0-9._~+/-]{{6,}}=*)"
        ),
    ),
    (("bearer ",), re.compile(rf"(?<![A-Za-z])(?i:bearer)\s+({_MIXED}[A-Za-z0-9._~+/-]{{8,}}=*)")),
    (("sk-",), re.compile(r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}")),
    (("k_live_", "k_test_"), re.compile(r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}")),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), re.compile(r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{16,}")),
    (("github_pat_",), re.compile(r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{16,}")),
    (("glpat-",), re.compile(r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,}")),
    (("xox",), re.compile(r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}")),
    (("xapp-",), re.compile(r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{10,}")),
    (("hf_",), re.compile(r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}")),
    (("npm_",), re.compile(r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{30,}")),
    (("pypi-",), re.compile(r"(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{50,}")),
    (("akia", "asia"), re.compile(r"(?<![A-Za-z0-9])A(?:KIA|SIA)[0-9A-Z]{16}(?![A-Za-z0-9])")),
    (("aiza",), re.compile(r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}")),
    (("eyj",), re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
)
_MARKED = tuple((mark, pattern) for marks, pattern in _PATTERNS for mark in marks)
# Fields within text: group 1 is the key, group 2 the value. The last pattern matches JSON inside a JSON
# string.
_FIELDS: tuple[tuple[str, "re.Pattern[str]"], ...] = (
    ("=", re.compile(r"[?&]([A-Za-z0-9_.-]+)=([^&#\s\"'<>]+)")),
    ('":', re.compile(r'"([A-Za-z0-9_.-]{3,64})"\s*:\s*"((?:[^"\\\n]|\\.)+)"')),
    ("':", re.compile(r"'([A-Za-z0-9_.-]{3,64})'\s*:\s*'((?:[^'\\\n]|\\.)+)'")),
    ('\\":', re.compile(r'\\"([A-Za-z0-9_.-]{3,64})\\"\s*:\s*\\"((?:[^"\\\n]|\\{4}|\\{2,3}[^\\\n])+)\\"')),
)


class Redactor:
    """Replaces secrets with `[redacted]`, or `[redacted NAME]` if the value's name is known.

    Redacting is idempotent. A value without secrets is returned as the same object.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        """`secrets` maps the names of variables and headers to their values.

        A value with a secret-looking name counts from 4 characters; any other from 8, and only if it is not a
        path, number, plain URL, locale or single word. A name may have a prefix that ends in a dot.
        """
        self._known: dict[str, str] = {}
        self._done: dict[int, Any] = {}
        self.learn(secrets)

    def learn(self, secrets: Mapping[str, str]) -> None:
        """Keep these secrets out of the record from now on, too."""
        self._known |= _forms(secrets)
        names = "|".join(sorted({re.escape(name) for name in self._known.values()}))
        self._marker = re.compile(rf"(\[redacted(?: (?:{names}))?\])" if names else r"(\[redacted\])")
        self._cached = lru_cache(maxsize=_CACHED_TEXTS)(self._redacted)
        self._all_clean = lru_cache(maxsize=_CACHED_ROWS)(self._are_clean)

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if len(text) < _SHORTEST_SECRET:
            return text
        redacted = self._cached(text) if len(text) <= _CACHED_LENGTH else self._redacted(text)
        # The cache may return an equal text that it saw earlier.
        return text if redacted == text else redacted

    def value(self, value: Any) -> Any:
        """A JSON value or a dataclass without its secrets, including strings under secret keys."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind in _HARMLESS_TYPES:
            return value
        if isinstance(value, list | tuple):
            return self._sequence(value)
        if is_dataclass(kind):
            return self._record(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        # What is left is an enum member, which may be a string too but never a secret, or a class.
        return value

    def once(self, value: _T) -> _T:
        """A dataclass without its secrets, for good: wherever the result occurs it is not read again.

        For what is large and is kept as long as the redactor. May run in any thread.
        """
        redacted: _T = self._record(value)
        self._done[id(redacted)] = redacted
        return redacted

    def event(self, event: _E) -> _E:
        """The event without its secrets."""
        redacted: _E = self._record(event)
        return redacted

    def _mapping(self, value: Mapping[Any, Any]) -> Mapping[Any, Any]:
        if _names_numbers(value) and self._all_clean(tuple(value)):
            return value
        changed = False
        found: dict[Any, Any] = {}
        for key, item in value.items():
            name = self.text(key) if type(key) is str else key
            if isinstance(item, str) and any(
                self._is_secret_field(text, item) for text in {str(key), str(name)}
            ):
                kept: Any = MARKER
            else:
                kept = self.value(item)
            changed = changed or kept is not item or name is not key
            found[name] = kept
        return found if changed else value

    def _sequence(self, value: Sequence[Any]) -> Sequence[Any]:
        if _is_long_row(value) and self._all_clean(value):
            return value
        kept = [self.value(item) for item in value]
        if all(new is old for new, old in zip(kept, value, strict=True)):
            return value
        return kept if isinstance(value, list) else tuple(kept)

    def _are_clean(self, texts: tuple[str, ...]) -> bool:
        return all(self.text(text) == text for text in texts)

    def _record(self, value: Any) -> Any:
        if id(value) in self._done:
            return value
        changes = {}
        for name in _open_fields(value.__class__):
            old = getattr(value, name)
            new = self.text(old) if type(old) is str else self.value(old)
            if new is not old:
                changes[name] = new
        return replace(value, **changes) if changes else value

    def _is_secret_field(self, key: str, value: str) -> bool:
        if _MARKER_START in key:
            key = self._marker.sub(" ", key)
        if not _names_secret(key):
            return False
        return not (value == "" or _HARMLESS.fullmatch(value) or self._marker.fullmatch(value))

    def _redacted(self, text: str) -> str:
        # Text next to a new marker can look like a secret once its old neighbor is gone.
        while True:
            pieces = self._marker.split(text) if _MARKER_START in text else [text]
            pieces[::2] = (self._piece(piece) for piece in pieces[::2])
            redacted = "".join(pieces)
            if redacted == text:
                return text
            text = redacted

    def _piece(self, text: str) -> str:
        spans = sorted(self._spans(text), key=lambda span: (span[0], -span[1]))
        if not spans:
            return text
        parts: list[str] = []
        done = 0
        for start, end, name in _merged(spans):
            parts += (text[done:start], f"[redacted {name}]" if name else MARKER)
            done = end
        return "".join((*parts, text[done:]))

    def _spans(self, text: str) -> Iterator[_Span]:
        """Find every secret in the same text, so that none hides part of another."""
        for secret, name in self._known.items():
            start = text.find(secret)
            while start >= 0:
                yield start, start + len(secret), name
                start = text.find(secret, start + len(secret))
        lowered = text.lower()
        # A pattern with two marks may find a secret twice: what overlaps is merged.
        for mark, pattern in _MARKED:
            if mark in lowered:
                for match in pattern.finditer(text):
                    yield *match.span(pattern.groups), ""
        yield from self._field_spans(text)
        if any(mark in lowered for mark in MARKS):
            for found in assignments(text, looks_secret):
                if self._is_secret_assignment(found):
                    yield found.start, found.end, ""

    def _is_secret_assignment(self, found: Assigned) -> bool:
        if self._is_secret_field(found.name, found.value):
            return True
        # Of a variable, `key` alone is enough for a value that cannot be a word.
        return (
            found.certain
            and len(found.value) >= _SHORTEST_VALUE
            and not _ORDINARY.fullmatch(found.value)
            and not self._marker.fullmatch(found.value)
        )

    def _field_spans(self, text: str) -> Iterator[_Span]:
        """Find the values of secret keys in URL queries and in JSON within the text."""
        for mark, pattern in _FIELDS:
            if mark in text:
                for match in pattern.finditer(text):
                    if self._is_secret_field(match[1], match[2]):
                        yield *match.span(2), ""


@cache
def _open_fields(cls: type[Any]) -> tuple[str, ...]:
    """The fields of a dataclass that can hold a secret; numbers and values from a closed set never do."""
    hints = get_type_hints(cls)
    return tuple(field.name for field in fields(cls) if not _is_closed(hints[field.name]))


def _is_closed(hint: Any) -> bool:
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return all(
        get_origin(choice) is Literal or (isinstance(choice, type) and issubclass(choice, _CLOSED_TYPES))
        for choice in choices
    )


def _is_long_row(value: Sequence[Any]) -> bool:
    """Whether the texts are worth caching as one: the bound ids, for example, recur in every model call."""
    return len(value) >= _LONG_ROW and type(value) is tuple and set(map(type, value)) == {str}


def _names_numbers(value: Mapping[Any, Any]) -> bool:
    """Whether only the names can hold a secret, as in the inputs of a score, whose names recur."""
    return _HARMLESS_TYPES.issuperset(map(type, value.values())) and set(map(type, value)) == {str}


def _merged(spans: Sequence[_Span]) -> Iterator[_Span]:
    """Merge overlapping sorted spans, keeping the first known name."""
    start, end, name = spans[0]
    for next_start, next_end, next_name in spans[1:]:
        if next_start < end:
            end, name = max(end, next_end), name or next_name
        else:
            yield start, end, name
            start, end, name = next_start, next_end, next_name
    yield start, end, name


def _forms(secrets: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each secret in the forms it may take: as is, without its scheme, within JSON, within a URL."""
    for name, value in secrets.items():
        if not _is_secret(name, value):
            continue
        shown = re.sub(r"[\[\]\s]", "_", name)
        scheme = _SCHEME.fullmatch(value)
        for core in (value, scheme[1] if scheme else value):
            for form in (
                core,
                json.dumps(core)[1:-1],
                json.dumps(core, ensure_ascii=False)[1:-1],
                _quoted(core),
            ):
                if len(form) >= _SHORTEST_SECRET:
                    yield form, shown


def _quoted(value: str) -> str:
    return quote(value, safe="", errors="surrogatepass")


def _is_secret(name: str, value: str) -> bool:
    if len(value.strip()) < _SHORTEST_SECRET or _HARMLESS.fullmatch(value) or value in MARKER:
        return False
    if looks_secret(name.rpartition(".")[2]):
        return True
    return len(value) >= _SHORTEST_VALUE and not _ORDINARY.fullmatch(value)


@lru_cache(maxsize=_CACHED_TEXTS)
def looks_secret(name: str) -> bool:
    """Whether a variable of this name probably holds a secret."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if _QUALIFIERS.intersection(words):
        return False
    return any(word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS) for word in words)


@lru_cache(maxsize=_CACHED_TEXTS)
def _names_secret(key: str) -> bool:
    """Whether a key in data holds a secret; stricter than for variables, where `key` alone is enough."""
    if not looks_secret(key):
        return False
    words = [word.lower() for word in _WORDS.findall(key)]
    secret = [word for word in words if word in _SECRET_WORDS or word.endswith(_SECRET_ENDINGS)]
    if all(word in ("key", "keys") for word in secret):
        return bool(_KEY_COMPANIONS.intersection(words))
    return True
