"""Keeps secrets out of all that is stored, written or printed: known values, and what looks like one."""

import os
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache, lru_cache
from operator import is_
from pathlib import Path
from types import NoneType, UnionType
from typing import IO, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.argument_secret import MARKS, Assigned, assignments
from inspector.core.events import Event
from inspector.core.secret_value import (
    MARKER,
    SHORTEST,
    Secrets,
    is_harmless,
    is_ordinary_value,
    looks_secret,
    names_secret,
)
from inspector.core.text import expression

_MARKER_START = "[redacted"
_MARKER = expression(r"(\[redacted(?: [^\[\]\n]{1,200})?\])")
_SHORTEST_CERTAIN = 8
_CACHED_LENGTH = 200
_CACHED_TEXTS, _CACHED_KEYS = 32_768, 1_024
_CLOSED_TYPES = (float, int, bool, NoneType, Enum)
_HARMLESS_TYPES = frozenset({float, int, bool, NoneType})
_TEXT_TYPE = frozenset({str})

_E = TypeVar("_E", bound=Event)
_T = TypeVar("_T")
_Span = tuple[int, int, str]

# What distinguishes a credential from prose: a digit, a change from lower to upper case, or padding.
_MIXED = r"(?=[A-Za-z._~+/-]*(?:\d|=|(?<=[a-z])[A-Z]))"
# Each pattern is tried only if one of its marks occurs (in lower case); group 1, if any, is the secret.
_PATTERNS: tuple[tuple[tuple[str, ...], "re.Pattern[str]"], ...] = (
    (
        ("private key-----",),
        expression(
            r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----"
            r"(?:[^-]*(?:-(?!----)[^-]*)*-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----"
            r"|(?:\s|\\[nr])*(?:[A-Za-z0-9+/=]{40,}(?:\s|\\[nr])*)+)"
        ),
    ),
    (("://",), expression(r"://([^/\s:@\"'<>]*:[^/\s@\"'<>]+)@")),
    (
        ("authorization",),
        expression(
            r"(?i:authorization)[\"']?\s*[:=]\s*[\"']?(?i:basic|bearer|token|digest|apikey)\s+"
            rf"({_MIXED}[A-Za-z0-9._~+/-]{{6,}}=*)"
        ),
    ),
    (
        ("cookie",),
        expression(
            r"(?i:cookie)[\"']?\s*:\s*[\"']?([\w.-]+=[^;\s\"'\\\[]{6,}(?:;[ \t]*[\w.-]+=[^;\s\"'\\\[]+)*)"
        ),
    ),
    (("bearer ",), expression(rf"(?<![A-Za-z])(?i:bearer)\s+({_MIXED}[A-Za-z0-9._~+/-]{{8,}}=*)")),
    (("sk-",), expression(r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}")),
    (("k_live_", "k_test_"), expression(r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}")),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), expression(r"(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{16,}")),
    (("github_pat_",), expression(r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{16,}")),
    (("glpat-",), expression(r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,}")),
    (("xox",), expression(r"(?<![A-Za-z0-9])xox[a-z]-[A-Za-z0-9-]{10,}")),
    (("xapp-",), expression(r"(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{10,}")),
    (("hf_",), expression(r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{30,}")),
    (("npm_",), expression(r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{30,}")),
    (("pypi-",), expression(r"(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{50,}")),
    (("akia", "asia"), expression(r"(?<![A-Za-z0-9])A(?:KIA|SIA)[0-9A-Z]{16}(?![A-Za-z0-9])")),
    (("aiza",), expression(r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}")),
    (("eyj",), expression(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?")),
)
_MARKED = tuple((mark, pattern) for marks, pattern in _PATTERNS for mark in marks)
# Fields within text: group 1 is the key, group 2 the value. The last pattern matches JSON inside a JSON
# string.
_FIELDS: tuple[tuple[str, "re.Pattern[str]"], ...] = (
    ("=", expression(r"[?&]([A-Za-z0-9_.-]+)=([^&#\s\"'<>]+)")),
    ('":', expression(r'"([A-Za-z0-9_.-]{3,64})"\s*:\s*"((?:[^"\\\n]|\\.)+)"')),
    ("':", expression(r"'([A-Za-z0-9_.-]{3,64})'\s*:\s*'((?:[^'\\\n]|\\.)+)'")),
    ('\\":', expression(r'\\"([A-Za-z0-9_.-]{3,64})\\"\s*:\s*\\"((?:[^"\\\n]|\\{4}|\\{2,3}[^\\\n])+)\\"')),
)


class Redactor:
    """Replaces secrets with `[redacted]`, or `[redacted NAME]` if the value's name is known.

    Redacting is idempotent. A value without secrets is returned as the same object.
    """

    def __init__(self, secrets: Secrets | Mapping[str, str], *, named: bool = True) -> None:
        """What `secrets` learn later counts as well. Unless `named`, the values' names are left out, too."""
        self._secrets = secrets if isinstance(secrets, Secrets) else Secrets(secrets)
        self._is_named = named
        self._done: dict[int, Any] = {}
        self._are_clean = lru_cache(maxsize=_CACHED_KEYS)(
            lambda _version, keys: all(self.value(key) is key for key in keys)
        )
        self._follow()

    def _follow(self) -> None:
        """Take up what the secrets have learned."""
        self._version = self._secrets.version
        self._cached = lru_cache(maxsize=_CACHED_TEXTS)(self._redacted)

    def text(self, text: str) -> str:
        """The text without its secrets."""
        if len(text) < SHORTEST:
            return text
        if self._version != self._secrets.version:
            self._follow()
        redacted = self._cached(text) if len(text) <= _CACHED_LENGTH else self._redacted(text)
        # The cache may return an equal text that it saw earlier.
        return text if redacted == text else redacted

    def value(self, value: Any) -> Any:
        """A JSON value or a Struct without its secrets, including strings under secret keys."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind in _HARMLESS_TYPES:
            return value
        if kind is dict:
            return self._mapping(value)
        if isinstance(value, Struct):
            return self._record(value)
        if isinstance(value, (list, tuple)):
            return self._sequence(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        # What is left is an enum member, which may be a string too but never a secret, or a class.
        return value

    def once(self, value: _T) -> _T:
        """A Struct without its secrets, for good: wherever the result occurs it is not read again.

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
        # The inputs of scores: some hundred in a search, of a few kinds.
        is_harmless = _HARMLESS_TYPES.issuperset(map(type, value.values()))
        if is_harmless and self._are_clean(self._secrets.version, tuple(value)):
            return value
        changed = False
        found: dict[Any, Any] = {}
        for key, item in value.items():
            name = self.text(key) if type(key) is str else key
            kept = self.value(item)
            if isinstance(item, str) and (
                self._is_secret_field(str(key), item)
                or (name is not key and self._is_secret_field(str(name), item))
            ):
                kept = MARKER
            changed = changed or kept is not item or name is not key
            found[name] = kept
        return found if changed else value

    def _sequence(self, value: Sequence[Any]) -> Sequence[Any]:
        if _TEXT_TYPE.issuperset(map(type, value)) and self._are_clean(self._secrets.version, tuple(value)):
            return value
        kept = [self.value(item) for item in value]
        if all(map(is_, kept, value)):
            return value
        return kept if isinstance(value, list) else tuple(kept)

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
            key = _MARKER.sub(" ", key)
        if not names_secret(key):
            return False
        return not (value == "" or is_harmless(value) or _MARKER.fullmatch(value))

    def _redacted(self, text: str) -> str:
        # Text next to a new marker can look like a secret once its old neighbor is gone.
        while True:
            redacted = self._around_markers(text) if _MARKER_START in text else self._piece(text)
            if redacted == text:
                return text
            text = redacted

    def _around_markers(self, text: str) -> str:
        pieces = _MARKER.split(text)
        pieces[::2] = map(self._piece, pieces[::2])
        # A server may write a marker, too, and put a secret in the place of a name.
        pieces[1::2] = (one if self._piece(one[1:-1]) == one[1:-1] else MARKER for one in pieces[1::2])
        return "".join(pieces)

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
        for secret, name in self._secrets.anywhere.items():
            start = text.find(secret)
            while start >= 0:
                yield start, start + len(secret), name if self._is_named else ""
                start = text.find(secret, start + len(secret))
        if self._secrets.alone:
            yield from self._spans_alone(text)
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

    def _spans_alone(self, text: str) -> Iterator[_Span]:
        """Find the secrets that count only where they are no part of a longer word."""
        for secret, name in self._secrets.alone.items():
            start = text.find(secret)
            while start >= 0:
                end = start + len(secret)
                if not (_is_word(text[start - 1 : start]) or _is_word(text[end : end + 1])):
                    yield start, end, name if self._is_named else ""
                start = text.find(secret, start + 1)

    def _is_secret_assignment(self, found: Assigned) -> bool:
        if self._is_secret_field(found.name, found.value):
            return True
        # Of a variable, `key` alone is enough for a value that cannot be a word.
        return (
            found.certain
            and len(found.value) >= _SHORTEST_CERTAIN
            and not is_ordinary_value(found.value)
            and not _MARKER.fullmatch(found.value)
        )

    def _field_spans(self, text: str) -> Iterator[_Span]:
        """Find the values of secret keys in URL queries and in JSON within the text."""
        for mark, pattern in _FIELDS:
            if mark in text:
                for match in pattern.finditer(text):
                    if self._is_secret_field(match[1], match[2]):
                        yield *match.span(2), ""


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


@cache
def _open_fields(cls: type[Struct]) -> tuple[str, ...]:
    """The fields of a Struct that can hold a secret; numbers and values from a closed set never do."""
    hints = get_type_hints(cls)
    return tuple(name for name in cls.__struct_fields__ if not _is_closed(hints[name]))


def _is_closed(hint: Any) -> bool:
    choices = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return all(
        get_origin(choice) is Literal or (isinstance(choice, type) and issubclass(choice, _CLOSED_TYPES))
        for choice in choices
    )


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


# `SECRETS` is what this process knows to be secret. Reading a configuration adds to it, so no writer has to
# ask where a text comes from: a server may repeat what it was started with in any text.

SECRETS: Final = Secrets()
# Without names: not every reader may know which servers there are.
_REDACTOR = Redactor(SECRETS, named=False)
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700


def clean(value: _T) -> _T:
    """A text, a JSON value or a Struct such as an event, without secrets. May run in any thread."""
    cleaned: _T = _REDACTOR.value(value)
    return cleaned


def learn_environment(environment: Mapping[str, str]) -> None:
    """Learn the secrets in the person's own environment, which a server typed on the command line inherits.

    Plain words and numbers are left out: other programs may mean anything by such a name.
    """
    named = {name: value for name, value in environment.items() if looks_secret(name)}
    SECRETS.learn({name: value for name, value in named.items() if not is_ordinary_value(value)})


def private_folder(path: Path) -> None:
    """Make a folder, with those above it that are missing, that only its owner can enter. Raises OSError."""
    for folder in reversed((path, *path.parents)):
        if not folder.exists():
            folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)


def open_private(path: Path, mode: str, **how: Any) -> IO[Any]:
    """Open a file to write as `open` does; one that is new can only be read by its owner. Raises OSError."""
    return open(path, mode, opener=lambda name, flags: os.open(name, flags, _PRIVATE_FILE), **how)


@contextmanager
def replacing(path: Path, mode: str, **how: Any) -> Iterator[IO[Any]]:
    """Open a new file, which takes the place of `path` once it is written; only its owner can read it.

    Who reads it meanwhile has all of it, or what was there before. Raises OSError.
    """
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open_private(new, mode, **how) as file:
            yield file
        new.replace(path)
    finally:
        with suppress(OSError):
            new.unlink()


def write(path: Path, text: str | bytes, *, errors: str = "strict") -> None:
    """Write a text without its secrets, or bytes, in place of what the file had. Raises OSError."""
    if isinstance(text, bytes):
        with open_private(path, "wb") as file:
            file.write(text)
        return
    with open_private(path, "w", encoding="utf-8", errors=errors, newline="") as file:
        file.write(clean(text))
