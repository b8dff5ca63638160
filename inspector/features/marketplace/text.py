"""Checks texts of a catalog, which strangers wrote, before they reach a command line or a configuration."""

import re
from collections.abc import Iterable

from inspector.core.error import ConfigError

LONGEST_NAME = 200
LONGEST_TEXT = 4_000
LONGEST_ARGUMENT = 4_000
MOST_ARGUMENTS, MOST_VARIABLES, MOST_TOOLS = 100, 100, 500
_CONTROL = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,199}")
_RUNNABLE = re.compile(r"(?:@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")
_IMAGE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]*")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!_-]*")
_TAG = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,127}")
_REFERENCE = "${"


def name(text: str, what: str) -> str:
    """A name on one line. Raises ConfigError."""
    if not text.strip() or len(text) > LONGEST_NAME or _CONTROL.search(text) or ":" in text:
        raise ConfigError(f"{what} must have 1 to {LONGEST_NAME} characters on one line, without a colon")
    return text


def prose(text: str) -> str:
    """A text for reading, cut where it is far too long."""
    return text[:LONGEST_TEXT]


def argument(text: str, what: str) -> str:
    """A text that goes to a command line, an address or a variable. Raises ConfigError.

    A reference such as `${HOME}` is refused: it would be replaced by a value of the person's own.
    """
    if len(text) > LONGEST_ARGUMENT:
        raise ConfigError(f"{what} is longer than {LONGEST_ARGUMENT:,} characters")
    if _CONTROL.search(text):
        raise ConfigError(f"{what} contains a control character")
    if _REFERENCE in text:
        raise ConfigError(f"{what} refers to one of your variables ({_REFERENCE}…)")
    return text


def arguments(texts: Iterable[str], what: str) -> tuple[str, ...]:
    """A command line's arguments. Raises ConfigError."""
    checked = tuple(argument(text, f"{what}[{index}]") for index, text in enumerate(texts))
    return few(checked, MOST_ARGUMENTS, what)


def variable(text: str) -> str:
    """A variable's name. Raises ConfigError."""
    if not _VARIABLE.fullmatch(text):
        raise ConfigError("a variable does not have a valid name")
    return text


def package(identifier: str, version: str, *, image: bool = False) -> str:
    """A package's name, or an image's, that no runtime can take for an option or an address.

    Raises ConfigError, also for a version that is no version.
    """
    if len(identifier) > LONGEST_NAME or not (_IMAGE if image else _RUNNABLE).fullmatch(identifier):
        raise ConfigError("its package name is not valid")
    if version and (len(version) > LONGEST_NAME or not (_TAG if image else _VERSION).fullmatch(version)):
        raise ConfigError("its version is not a valid tag" if image else "its version is not a valid version")
    return identifier


def few(items: tuple[str, ...], most: int, what: str) -> tuple[str, ...]:
    """So many at most. Raises ConfigError."""
    if len(items) > most:
        raise ConfigError(f"there are more than {most} entries in {what}")
    return items
