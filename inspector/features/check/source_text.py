"""Where a description stands in source files, and the same files with another one in its place.

Any language is read the same way: a description is looked for as its words within quotes, with whatever a
program may have between them (line ends, indentation, escapes, literals that it joins). Only what differs is
written, and it is offered only if the new description can then be found in the same place.
"""

import ast
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from difflib import unified_diff
from functools import lru_cache
from inspect import cleandoc
from itertools import islice
from pathlib import Path

from msgspec import Struct

from inspector.config.file import MEGABYTE, is_file, read_bytes
from inspector.config.server_change import replace_file
from inspector.core.error import ConfigError
from inspector.core.text import common_start
from inspector.core.tool import Tool
from inspector.features.check.finding import Place
from inspector.features.check.trust_rule import is_hidden

_BY_HAND = "Copy the text and change the file by hand."
_LARGEST = 4 * MEGABYTE
_FILES_KEPT = 256
_INSTALLED = ("node_modules", "site-packages", "dist-packages")
_BUILT = ("dist", "build", "out")
_SCRIPTS = (".js", ".mjs", ".cjs", ".jsx")
_SOURCES = (*_SCRIPTS, ".ts", ".mts", ".cts", ".tsx")
_MOST_SOURCES = 1_000
_HEAD = 2_000
_SAYS_SO = re.compile(
    r"^[ \t]*(?:#|//|/?\*).*?(?:@generated\b|auto(?:matically )?-?generated|generated.{0,200}do not edit"
    r"|do not (?:edit|modify).{0,200}generated)",
    re.IGNORECASE | re.MULTILINE,
)
# What may stand in a literal for white space: that itself, its escapes, and the seam of two joined literals.
_SPACE = r"(?:\s|\\[nrt]|[\"'`]\s*\+?\s*[\"'`])+"
_OPENS = r"(?<!\\)(?P<quote>\"\"\"|'''|[\"'`])(?:\s|\\n)*"
_CLOSES = r"(?:\s|\\n)*(?P=quote)"


class Replacement(Struct, frozen=True):
    """A file as it is and as it would be."""

    path: Path
    before: bytes
    after: bytes

    @property
    def difference(self) -> str:
        """The unified difference of both."""
        old, new = (data.decode().splitlines(keepends=True) for data in (self.before, self.after))
        lines = unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def write(self) -> None:
        """Write the file at once, as `replace_file` does. Raises ConfigError if it has changed since."""
        replace_file(self.path, self.before, self.after, backs_up=False)


def place_of(files: Sequence[Path], text: str) -> Place | None:
    """Where a text stands in the files; None if nowhere, or in more than one place.

    Before a file that a build wrote its sources count. What stands once in the first file, the server's own
    script, may stand in others too.
    """
    written = list(dict.fromkeys(one for path in files for one in (*_sources_of(path), path)))
    found = {path: places for path in written if (places := _places(path, text))}
    sources = [path for path in found if not why_lost(path)] or list(found)
    own = [path for path in sources if path in files[:1]] or sources
    return found[own[0]][0] if len(own) == 1 and len(found[own[0]]) == 1 else None


def place_of_tool(files: Sequence[Path], tool: Tool) -> Place | None:
    """Where a tool stands in its server's files: its description, its function in Python, or its name.

    None if none of them stands in just one place.
    """
    return place_of(files, tool.description) or _function(files, tool.name) or place_of(files, tool.name)


def _function(files: Sequence[Path], name: str) -> Place | None:
    named = re.compile(rf"^[ \t]*(?:async )?(?=def {re.escape(name)}\b)", re.MULTILINE)
    texts = ((path, text_of(path)) for path in files if path.suffix == ".py")
    found = [_place(path, text, one.end()) for path, text in texts for one in named.finditer(text)]
    return found[0] if len(found) == 1 else None


def replacement(path: Path, old: str, new: str) -> Replacement:
    """The file with a new text in place of an old one. Raises ConfigError with the reason."""
    data = read_bytes(path, "source", limit=_LARGEST)
    if why := why_lost(path):
        raise ConfigError(f"{path} {why}", hint="Copy the text into the source that it is made from.")
    try:
        text = data.decode()
    except ValueError as error:
        raise ConfigError(f"{path} is not UTF-8", hint=_BY_HAND) from error
    found = list(_literals(old, text))
    if len(found) != 1:
        where = f"in {len(found)} places" if found else "nowhere as one text"
        raise ConfigError(f"the text stands {where} in {path}", hint=_BY_HAND)
    changed = _changed(text, found[0], old.strip(), new.strip())
    if not _is_sound(path, changed, found[0].start(), new):
        raise ConfigError(f"the text cannot be written into {path} as it is", hint=_BY_HAND)
    return Replacement(path, data, changed.encode())


def _changed(text: str, literal: re.Match[str], old: str, new: str) -> str:
    """The file's text with what differs from the old one written in its place."""
    ahead = common_start(old, new)
    if any(part[ahead : ahead + 1].isspace() for part in (old, new)):
        # White space stands differently in the file, so that all of it belongs to what differs.
        ahead = len(old[:ahead].rstrip())
    behind = common_start(old[ahead:][::-1], new[ahead:][::-1])
    start = _end_of(old[:ahead], text, literal)
    end = max(start, _end_of(old[: len(old) - behind], text, literal))
    quote = literal["quote"]
    middle = new[ahead : len(new) - behind].replace("\\", "\\\\").replace(quote[0], f"\\{quote[0]}")
    middle = middle.replace("${", "\\${") if quote == "`" else middle
    if len(quote) == 1 and quote != "`":
        middle = middle.replace("\n", "\\n")
    else:
        line = text[text.rfind("\n", 0, literal.start()) + 1 : literal.start()]
        indentation = line[: len(line) - len(line.lstrip())] if quote != "`" else ""
        newline = "\r\n" if "\r\n" in text else "\n"
        middle = re.sub(r"\n(?=[^\n])", f"\n{indentation}", middle).replace("\n", newline)
    return text[:start] + middle + text[end:]


def _end_of(part: str, text: str, literal: re.Match[str]) -> int:
    """Where the beginning of a literal's text ends."""
    found = re.compile(_OPENS + _pattern(part)).match(text, literal.start())
    assert found is not None
    return found.end()


def _pattern(text: str) -> str:
    """What a text may be written as within quotes."""
    parts = re.findall(r"\s+|\w+|.", text)
    return "".join(_SPACE if part.isspace() else "".join(map(_written, part)) for part in parts)


def _written(character: str) -> str:
    if character.isalnum() and character.isascii():
        return character
    plain, code = rf"\\?{re.escape(character)}", ord(character)
    return plain if character.isascii() or code > 0xFFFF else rf"(?:{plain}|\\u(?i:{code:04x}))"


def _literals(description: str, text: str) -> Iterator[re.Match[str]]:
    if description.strip():
        yield from re.finditer(_OPENS + _pattern(description.strip()) + _CLOSES, text)


def _is_sound(path: Path, text: str, start: int, new: str) -> bool:
    """Whether the new text stands where the old one did, and the file can still be read."""
    if any(is_hidden(one) and one not in "\n\r\t" for one in new):
        return False
    if [one.start() for one in _literals(new, text)] != [start]:
        return False
    try:
        if path.suffix == ".py":
            nodes = ast.walk(ast.parse(text.removeprefix("\ufeff")))
            values = (one.value for one in nodes if isinstance(one, ast.Constant))
            return any(cleandoc(one) == cleandoc(new) for one in values if isinstance(one, str))
        return path.suffix != ".json" or json.dumps(new, ensure_ascii=False) in json.dumps(
            json.loads(text), ensure_ascii=False
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def _places(path: Path, text: str) -> list[Place]:
    source = text_of(path)
    word = re.search(r"[A-Za-z0-9]{3,}", text)
    if word is not None and word[0] not in source:
        return []  # Looking for all of it takes longer.
    return [_place(path, source, one.start()) for one in _literals(text, source)]


def text_of(path: Path) -> str:
    """The text of a file; "" if it cannot be read, or is larger than what people write."""
    with suppress(OSError, ConfigError, ValueError):
        state = path.stat()
        return _read(path, state.st_mtime_ns, state.st_size)
    return ""


# A server's files are looked through for each of its tools.
@lru_cache(maxsize=_FILES_KEPT)
def _read(path: Path, _modified: int, _size: int) -> str:
    return read_bytes(path, "source", limit=_LARGEST).decode()


def _place(path: Path, text: str, position: int) -> Place:
    before = text[:position]
    return Place(path, before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1)


# What a build or an install writes.


def why_lost(path: Path) -> str:
    """Why a change of the file would be lost, as the end of a sentence; "" if it would not."""
    if installed := next((part for part in path.parts if part in _INSTALLED), ""):
        return f"is in {installed}, which the next install overwrites"
    if _SAYS_SO.search(text_of(path)[:_HEAD]):
        return "says that it is generated"
    if built := _built_in(path):
        return f"is in {built}, which a build overwrites"
    return ""


def _built_in(path: Path) -> str:
    """The folder of its project that a build fills and a script is in; "" if it is in none."""
    project = _project(path)
    parts = path.relative_to(project).parts[:-1] if project is not None and path.suffix in _SCRIPTS else ()
    return next((part for part in parts if part in _BUILT), "")


def _project(path: Path) -> Path | None:
    return next((one for one in path.parents if is_file(one / "package.json")), None)


def _sources_of(path: Path) -> Iterator[Path]:
    """The files in the folder `src` of the project of a script that a build wrote."""
    project = _project(path)
    if project is not None and _built_in(path):
        found = (one for one in (project / "src").rglob("*") if one.suffix in _SOURCES)
        yield from islice(found, _MOST_SOURCES)
