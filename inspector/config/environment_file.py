"""Files of variables, a line `NAME=value` each, as editors read them for `envFile`."""

import re
from pathlib import Path

from inspector.config.file import MEGABYTE, read_text

_ASSIGNMENT = re.compile(r"\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)")
_QUOTED = re.compile(r"([\"'])(.*?)\1\s*(?:#.*)?")


def environment_of(path: Path) -> dict[str, str]:
    """The variables in a file of at most 1 MB; other lines are passed over. Raises ConfigError."""
    found = {}
    for line in read_text(path, "environment", limit=MEGABYTE).splitlines():
        if match := _ASSIGNMENT.fullmatch(line):
            quoted = _QUOTED.fullmatch(match[2])
            found[match[1]] = quoted[2] if quoted else match[2].partition(" #")[0].rstrip()
    return found
