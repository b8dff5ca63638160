"""Everything Toolsight writes or prints passes through here: free of secrets, readable by its owner alone.

`SECRETS` is what this process knows to be secret. Reading a configuration adds to it, so no writer has to ask
where a text comes from: a server may repeat what it was started with in any text.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, TypeVar

from inspector.core.redaction import Redactor
from inspector.core.secret_value import Secrets, is_ordinary_value, looks_secret

SECRETS: Final = Secrets()
# Without names: not every reader may know which servers there are.
_REDACTOR = Redactor(SECRETS, named=False)
_PRIVATE_FILE, _PRIVATE_FOLDER = 0o600, 0o700

_T = TypeVar("_T")


def clean(value: _T) -> _T:
    """A text, a JSON value or a dataclass such as an event, without secrets. May run in any thread."""
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
    return open(path, mode, opener=_opened, **how)


def _opened(name: str, flags: int) -> int:
    return os.open(name, flags, _PRIVATE_FILE)


def write(path: Path, text: str, *, errors: str = "strict") -> None:
    """Write a text without its secrets, in place of what the file had. Raises OSError."""
    with open_private(path, "w", encoding="utf-8", errors=errors, newline="") as file:
        file.write(clean(text))
