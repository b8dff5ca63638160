"""Servers' entries as any client's file has them, before they are checked: their addresses and secrets."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from inspector.core.secret_value import looks_secret
from inspector.core.server import ServerSpec

# Goose has the last one of each of the first two.
URLS = ("url", "httpUrl", "serverUrl", "uri")
"""What clients call a server's address."""
COMMANDS = ("command", "cmd")
"""What clients call a server's program."""
_VARIABLES, _HEADERS = ("env", "envs", "environment"), ("headers", "http_headers")
_NAMES_OF_VARIABLES = ("env_keys", "env_vars")
_REFERENCE = re.compile(r"\$\{(?:env:)?([A-Za-z_]\w*)(?:\}|:-)")


def passed_names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The variables and headers that a client passes to the entry's server or puts in, by name."""
    listed = (entry.get(key) for key in _NAMES_OF_VARIABLES)
    names = (name for names in listed if isinstance(names, list) for name in names if isinstance(name, str))
    put_in = _REFERENCE.findall(" ".join(_words(entry)))
    return tuple(dict.fromkeys((*_texts(entry, _VARIABLES), *_texts(entry, _HEADERS), *names, *put_in)))


def written_secrets(data: Any) -> dict[str, str]:
    """What a file passes to any server, also to one that is disabled, as `ServerSpec.secrets`.

    References to variables are left out.
    """
    return {
        name: value
        for server, entry in _entries(data)
        for name, value in _spec(server, entry).secrets.items()
        if "${" not in value
    }


def _entries(data: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every entry of a server with its name, wherever in the file it stands."""
    waiting = [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, Mapping):
            if any(key in value for key in (*COMMANDS, *URLS)):
                yield name, value
            waiting += ((str(key), one) for key, one in value.items())
        elif isinstance(value, list):
            waiting += ((name, one) for one in value)


def _spec(name: str, entry: Mapping[str, Any]) -> ServerSpec:
    words, oauth = _words(entry), _texts(entry, ("oauth",))
    return ServerSpec(
        name,
        command="".join(words[:1]),
        args=tuple(words[1:]),
        env=_texts(entry, _VARIABLES),
        url=next((url for key in URLS if isinstance(url := entry.get(key), str)), ""),
        headers=_texts(entry, _HEADERS),
        concealed={key: text for key, text in oauth.items() if key == "assertion" or looks_secret(key)},
    )


def _words(entry: Mapping[str, Any]) -> list[str]:
    """The command line; opencode has all of it in one list."""
    words: list[str] = []
    for key in (*COMMANDS, "args"):
        given = entry.get(key, [])
        words += map(str, given if isinstance(given, list) else [given])
    return words


def _texts(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, str]:
    """The texts by name in the objects that an entry has under these keys."""
    found = (entry.get(key) for key in keys)
    pairs = (pair for one in found if isinstance(one, Mapping) for pair in one.items())
    return {str(name): text for name, text in pairs if isinstance(text, str)}
