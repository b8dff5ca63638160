"""Files that a build or an install writes: why one must not be edited, and the sources that a map names."""

import base64
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from inspector.config.file import MAX_BYTES, is_file, read_bytes
from inspector.core.error import ConfigError

_INSTALLED = ("node_modules", "site-packages", "dist-packages")
_BUILT = ("dist", "build", "out")
_JAVASCRIPT = (".js", ".mjs", ".cjs", ".jsx")
_MAP = re.compile(rb"(?://|/\*)[#@][ \t]*sourceMappingURL=([^\s*'\"]+)")
_COMMENT = re.compile(r"^[ \t]*(?:#|//|/?\*)([^\n]*)", re.MULTILINE)
_SAYS_SO = re.compile(
    r"@generated\b|auto(?:matically )?-?generated|generated.{0,200}do not (?:edit|modify)"
    r"|do not (?:edit|modify).{0,200}generated",
    re.IGNORECASE | re.DOTALL,
)
_HEAD = 2_000
_MOST_SOURCES = 1_000
# Bundles are made of what a compiler wrote.
_DEEPEST = 3


def sources_of(path: Path) -> tuple[Path, ...]:
    """The files that a generated one was made of, as far as they are here and a source map names them."""
    found = _direct(path)
    for _ in range(_DEEPEST):
        found = tuple(dict.fromkeys(deeper for one in found for deeper in _direct(one) or (one,)))
    return found


def why_generated(path: Path) -> str:
    """Why a change of the file would be lost, as the end of a sentence; "" if it would not."""
    if installed := _installed_in(path):
        return f"is in {installed}, which the next install overwrites"
    if sources_of(path):
        return f"is made from {sources_of(path)[0]}, where the text stands differently"
    with suppress(ConfigError):
        head = read_bytes(path, "source", limit=MAX_BYTES)[:_HEAD].decode("utf-8", "replace")
        if _SAYS_SO.search("\n".join(_COMMENT.findall(head))):
            return "says that it is generated"
    built = next((part for part in path.relative_to(_project(path)).parts[:-1] if part in _BUILT), "")
    if built and path.suffix in _JAVASCRIPT:
        return f"is in {built}, which a build overwrites, and no source map names its source"
    return ""


def _installed_in(path: Path) -> str:
    return next((part for part in path.parts if part in _INSTALLED), "")


def _project(path: Path) -> Path:
    """The folder of the project that a file belongs to; its own folder's parent if that is unknown."""
    return next((one for one in path.parents if is_file(one / "package.json")), path.parent.parent)


def _direct(path: Path) -> tuple[Path, ...]:
    with suppress(OSError):
        if path.suffix in _JAVASCRIPT:
            state = path.stat()
            return _read(path, state.st_mtime_ns, state.st_size)
    return ()


# A server's files are looked through for each of its tools.
@lru_cache(maxsize=_MOST_SOURCES)
def _read(path: Path, _changed: int, _size: int) -> tuple[Path, ...]:
    # A map may hold anything.
    with suppress(ConfigError, OSError, ValueError, RuntimeError, AttributeError, TypeError):
        found = dict.fromkeys(islice(_named(path), _MOST_SOURCES))
        return tuple(one for one in found if one != path and is_file(one) and not _installed_in(one))
    return ()


def _named(path: Path) -> Iterator[Path]:
    """The files that the source map names. Raises ConfigError or ValueError without a readable one."""
    named = _MAP.findall(read_bytes(path, "source", limit=MAX_BYTES))
    url, folder = named[-1].decode() if named else f"{path.name}.map", path.parent
    if url.startswith("data:"):
        kind, _, body = url.partition(",")
        data = base64.b64decode(body) if kind.endswith(";base64") else unquote_to_bytes(body)
    else:
        file = folder / unquote(url)
        data, folder = read_bytes(file, "source map", limit=MAX_BYTES), file.parent
    # Some servers put this before JSON so that no script can be made of it.
    found: Any = json.loads(data.removeprefix(b")]}'"))
    for part in (found, *(one["map"] for one in found.get("sections", ()) if "map" in one)):
        root = str(part.get("sourceRoot") or "")
        for source in part.get("sources") or ():
            name = f"{root.rstrip('/')}/{source}" if root else str(source)
            scheme, _, rest = name.partition("://")
            if rest and scheme != "file":
                # Bundlers name a file by its path from their project.
                yield Path(_project(path) / unquote(rest.partition("/")[2].partition("?")[0])).resolve()
            else:
                yield Path(folder / unquote(rest or name)).resolve()
