"""What a server is reached by, as people may read it: without passwords and values of secret flags."""

import re
from collections.abc import Sequence

from inspector.domain.server import ServerSpec

HIDDEN = "***"
_SECRET_FLAG = re.compile(r"--?[\w-]*(?:key|token|secret|password|passwd|pwd|auth|credential)[\w-]*", re.I)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")


def target(spec: ServerSpec) -> str:
    """The command line, URL or file, for people: without passwords and values of secret flags."""
    if spec.listing:
        return spec.listing
    if spec.is_http:
        return _USER_INFO.sub("", re.split(r"[?#]", spec.shown_url, maxsplit=1)[0])
    return " ".join(without_secrets(spec.shown_argv))


def without_secrets(words: Sequence[str]) -> list[str]:
    """The words of a command with `HIDDEN` for passwords and values of secret flags."""
    shown: list[str] = []
    for word in words:
        flag, separator, _ = word.partition("=")
        if shown and _SECRET_FLAG.fullmatch(shown[-1]) and not word.startswith("-"):
            shown.append(HIDDEN)
        elif separator and _SECRET_FLAG.fullmatch(flag):
            shown.append(f"{flag}={HIDDEN}")
        else:
            shown.append(_USER_INFO.sub("", word))
    return shown
