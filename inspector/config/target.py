"""What a server is reached by, as people may read it: without passwords, keys and secret options."""

import re
from collections.abc import Iterable, Sequence

from inspector.core.argument_secret import Found, secrets_among, secrets_of_address
from inspector.core.secret_value import is_secret, looks_secret
from inspector.core.server import ServerSpec

HIDDEN = "***"
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")


def target(spec: ServerSpec) -> str:
    """The command line, URL or file, for people: without passwords, keys and values of secret options."""
    if spec.listing:
        return spec.listing
    if spec.is_http:
        [address] = _hidden([spec.shown_url], secrets_of_address(spec.shown_url))
        return re.split(r"[?#]", address, maxsplit=1)[0]
    return " ".join(without_secrets(spec.shown_argv))


def without_secrets(words: Sequence[str]) -> list[str]:
    """The words of a command with `HIDDEN` for what is secret in them."""
    return _hidden(words, secrets_among(words))


def _hidden(words: Sequence[str], found: Iterable[Found]) -> list[str]:
    shown = list(words)
    last = (len(shown), 0)
    for index, start, end, name in sorted(found, reverse=True):
        if (index, end) > last:
            continue  # It overlaps another one.
        if looks_secret(name) or is_secret(name, words[index][start:end]):
            shown[index] = shown[index][:start] + HIDDEN + shown[index][end:]
            last = (index, start)
    return [_USER_INFO.sub("", word) for word in shown]
