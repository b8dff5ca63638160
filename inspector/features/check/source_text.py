"""Where a description stands in source files, and the same files with another one in its place.

Python, JavaScript, TypeScript and JSON are read as their literals. A new text is written in the same
quotes and indentation, and the file is read again: if anything else changed, it is not offered.
"""

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from functools import lru_cache
from inspect import cleandoc
from pathlib import Path
from tokenize import detect_encoding

from inspector.config.editor import replace_file
from inspector.config.file import MEGABYTE, read_bytes, without_comments
from inspector.core.error import ConfigError
from inspector.core.number import count
from inspector.core.tool import Tool
from inspector.features.check.finding import Place
from inspector.features.check.generated_file import sources_of, why_generated
from inspector.features.check.trust_rule import is_hidden

_BY_HAND = "Copy the text and change the file by hand."
_LINE_END = re.compile(r"\r\n|\r|\n")
# A server's files are looked through for each of its tools.
_FILES_KEPT = 256
_LARGEST = 4 * MEGABYTE


@dataclass(frozen=True, slots=True)
class _Part:
    """One literal: where it starts and ends, and its text."""

    start: int
    end: int
    value: str


_Literal = tuple[_Part, ...]
"""A text of a file: a literal, or several that the language joins."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """A file as it is and as it would be."""

    path: Path
    before: bytes
    after: bytes

    @property
    def difference(self) -> str:
        """The unified difference of both."""
        before, after = (_decoded(self.path, data)[0] for data in (self.before, self.after))
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
        lines = unified_diff(old, new, str(self.path), str(self.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def write(self) -> None:
        """Write the file at once, as `replace_file` does. Raises ConfigError if it has changed since."""
        replace_file(self.path, self.before, self.after, backs_up=False)


def place_of(files: Sequence[Path], old: str) -> Place | None:
    """Where a text stands in the files; None if nowhere, or in more than one place.

    Of a file that was made of others it is looked for in those first. What stands once in the first file, the
    server's own script, may stand in others too.
    """
    written = list(dict.fromkeys(one for path in files for one in sources_of(path) or (path,)))
    return _only_place(written, old) or _only_place([path for path in files if path not in written], old)


def _only_place(files: Sequence[Path], old: str) -> Place | None:
    found = [place for path in files for place in _places(path, old)]
    others = [place for place in found[1:] if place.path == found[0].path]
    is_one = len(found) == 1 or (bool(found) and not others and found[0].path == files[0])
    return found[0] if is_one else None


def place_of_tool(files: Sequence[Path], tool: Tool) -> Place | None:
    """Where a tool stands in its server's files: its description, its function in Python, or its name.

    None if none of them stands in just one place.
    """
    return place_of(files, tool.description) or _function(files, tool.name) or place_of(files, tool.name)


def _function(files: Sequence[Path], name: str) -> Place | None:
    named = re.compile(rf"^[ \t]*(?:async )?(?=def {re.escape(name)}\b)", re.MULTILINE)
    texts = ((path, _text(path)) for path in files if path.suffix == ".py")
    found = [_place(path, text, one.end()) for path, text in texts for one in named.finditer(text)]
    return found[0] if len(found) == 1 else None


def replacement(path: Path, old: str, new: str) -> Replacement:
    """The file with a new text in place of an old one. Raises ConfigError with the reason."""
    data = read_bytes(path, "source", limit=_LARGEST)
    if why := why_generated(path):
        raise ConfigError(f"{path} {why}", hint="Copy the text into the source that it is made from.")
    try:
        text, encoding = _decoded(path, data)
        literals = _literals(path.suffix, text)
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError) as error:
        raise ConfigError(f"{path} cannot be read as source: {error}", hint=_BY_HAND) from error
    found = [literal for literal in literals if _is(path, _value(literal), old)]
    if len(found) != 1:
        where = f"in {count(len(found), 'place')}" if found else "nowhere as a literal"
        raise ConfigError(f"the text stands {where} in {path}", hint=_BY_HAND)
    value, indentation = _value(found[0]), _indentation(text, found[0][0].start)
    whole = new if value == old else _laid_out(value, indentation, _cleaned(new))
    for form in _written(path, text, found[0], whole) if _is(path, whole, new) else ():
        # What the encoding lacks is written as Python's escape for it.
        changed = form.encode(encoding, "backslashreplace")
        if _is_sound(path, literals, found[0], changed, whole):
            return Replacement(path, data, changed)
    raise ConfigError(f"{path} has no form for this text that would be read back as it is", hint=_BY_HAND)


def _places(path: Path, old: str) -> Iterator[Place]:
    text, word = _text(path), re.search(r"[A-Za-z0-9]{3,}", old)
    if not old or (word is not None and word[0] not in text):
        return  # Reading all of it takes longer.
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        for literal in _literals(path.suffix, text):
            if _is(path, _value(literal), old):
                yield _place(path, text, literal[0].start)


def _text(path: Path) -> str:
    """The text of a file; "" if it cannot be read, or is larger than what people write."""
    try:
        return _decoded(path, read_bytes(path, "source", limit=_LARGEST))[0]
    except (ConfigError, SyntaxError, ValueError, LookupError):
        return ""


def _decoded(path: Path, data: bytes) -> tuple[str, str]:
    """A file's text with its byte order mark, and its encoding, which Python's files may declare.

    Raises SyntaxError, ValueError or LookupError, also if the text would not be encoded as it was.
    """
    encoding = "utf-8"
    if path.suffix == ".py":
        encoding = detect_encoding(iter(data.splitlines(keepends=True)).__next__)[0].removesuffix("-sig")
    text = data.decode(encoding)
    if text.encode(encoding) != data:
        raise ValueError(f"{encoding} would encode it otherwise")
    return text, encoding


def _place(path: Path, text: str, position: int) -> Place:
    lines = _LINE_END.split(text[:position])
    return Place(path, len(lines), len(lines[-1]) + 1)


def _value(literal: _Literal) -> str:
    return "".join(part.value for part in literal)


def _is(path: Path, value: str, text: str) -> bool:
    """Whether a server can have the text of this value; some clean the indentation of docstrings."""
    return value == text or (path.suffix == ".py" and _cleaned(value) == _cleaned(text) != "")


def _cleaned(docstring: str) -> str:
    return cleandoc(docstring).strip()


@lru_cache(maxsize=_FILES_KEPT)
def _literals(suffix: str, text: str) -> tuple[_Literal, ...]:
    """All texts of a file that is one of the known languages, in order. Raises ValueError or SyntaxError."""
    language = _LANGUAGES.get(suffix.lower())
    return tuple(language[0](text)) if language else ()


def _written(path: Path, text: str, literal: _Literal, whole: str) -> Iterator[str]:
    """The file's text with another one, in each form that its language has for it, the closest first."""
    first, last = _changed(literal, whole)
    changed = literal[first:last]
    before, after = _value(literal[:first]), _value(literal[last:])
    middle = whole[len(before) : len(whole) - len(after)]
    start, end = changed[0].start, changed[-1].end
    newline = found[0] if (found := _LINE_END.search(text, start, end) or _LINE_END.search(text)) else "\n"
    _, forms = _LANGUAGES[path.suffix.lower()]
    for form in forms(text[start : changed[0].end], middle):
        yield text[:start] + form.replace("\n", newline) + text[end:]


def _changed(literal: _Literal, whole: str) -> tuple[int, int]:
    """Which of the literals that are joined have to be written again, at least one."""
    first, last = 0, len(literal)
    while first < last - 1 and whole.startswith(_value(literal[: first + 1])):
        first += 1
    rest = whole[len(_value(literal[:first])) :]
    while last > first + 1 and rest.endswith(_value(literal[last - 1 :])):
        last -= 1
    return first, last


def _laid_out(value: str, indentation: str, text: str) -> str:
    """A docstring's text in its indentation, with the white space that it had around it."""
    inner = [re.match(r"\s*", line)[0] for line in value.split("\n")[1:] if line.strip()]  # type: ignore[index]
    indentation = min(inner, key=len, default=indentation)
    first, *others = text.split("\n")
    lines = (first, *(f"{indentation}{line}" if line else "" for line in others))
    lead, tail = value[: len(value) - len(value.lstrip())], value[len(value.rstrip()) :]
    # White space behind a single line would be taken for a part of it.
    return lead + "\n".join(lines) + (tail if "\n" in lead + text else "")


def _indentation(text: str, position: int) -> str:
    """The white space that the position's line begins with."""
    line = _LINE_END.split(text[:position])[-1]
    return line[: len(line) - len(line.lstrip())]


def _is_sound(path: Path, before: Sequence[_Literal], changed: _Literal, data: bytes, whole: str) -> bool:
    """Whether the file still has the same texts, but for the one that is now the new one."""
    try:
        after = _literals(path.suffix, _decoded(path, data)[0])
    except (SyntaxError, ValueError, LookupError, RecursionError, MemoryError):
        return False
    expected = [whole if old is changed else _value(old) for old in before]
    return expected == list(map(_value, after))


# Python

_PYTHON = re.compile(
    r"#[^\r\n]*|[rRuU]?(?:\"\"\"(?:[^\\]|\\.)*?\"\"\"|'''(?:[^\\]|\\.)*?'''"
    r"|\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*')",
    re.DOTALL,
)


def _python(text: str) -> Iterator[_Literal]:
    mark = len(text) - len(text.removeprefix("\ufeff"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nodes = list(ast.walk(ast.parse(text[mark:])))
    starts = [mark, *(found.end() for found in _LINE_END.finditer(text))]

    def at(line: int, column: int) -> int:
        start = starts[line - 1]
        return start + len(text[start : start + column].encode()[:column].decode())

    made = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    found: list[_Literal] = []
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in made:
            start = at(node.lineno, node.col_offset)
            end = at(node.end_lineno or node.lineno, node.end_col_offset or 0)
            tokens = (one for one in _PYTHON.finditer(text, start, end) if not one[0].startswith("#"))
            found.append(tuple(_Part(*one.span(), ast.literal_eval(one[0])) for one in tokens))
    return iter(sorted(found, key=lambda literal: literal[0].start))


def _python_forms(token: str, text: str) -> Iterator[str]:
    prefix, quote = re.match(r"(\w*)(\"\"\"|'''|\"|')", token).groups()  # type: ignore[union-attr]
    if prefix in ("r", "R"):
        yield f"{prefix}{quote}{text}{quote}"
        prefix = ""
    if len(quote) == 1:
        yield f"{prefix}{quote}{_escaped(text, quote, _python_code)}{quote}"
        return
    body = _escaped(text, "\\", _python_code, keeps="\n")
    # Of quotes in a row, each but the last has to be escaped, and one at the end.
    yield f"{prefix}{quote}" + re.sub(rf"{quote[0]}(?={quote[0]}|\Z)", rf"\\{quote[0]}", body) + quote


def _python_code(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_code(character: str) -> str:
    return json.dumps(character)[1:-1].replace("\x7f", "\\u007f")


def _escaped(text: str, quote: str, code: Callable[[str], str], *, keeps: str = "") -> str:
    """A text within quotes: what would end it, break it or be seen by nobody as an escape."""
    short = {"\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", quote: f"\\{quote}", keeps: keeps}
    shown = (one if one.isprintable() and not is_hidden(one) else code(one) for one in text)
    return "".join(short.get(one, seen) for one, seen in zip(text, shown, strict=True))


# JSON

_JSON = re.compile(r'("(?:[^"\\\r\n]|\\.)*")(\s*:)?')


def _json(text: str) -> Iterator[_Literal]:
    for one in _JSON.finditer(without_comments(text)):
        if not one[2]:
            yield (_Part(*one.span(1), str(json.loads(one[1], strict=False))),)


def _json_forms(_token: str, text: str) -> Iterator[str]:
    yield f'"{_escaped(text, chr(34), _json_code)}"'


# JavaScript and TypeScript

_SCRIPT = re.compile(
    # Comments, and regular expressions by what stands before them; then literals, and `+` between them.
    r"//[^\r\n]*|/\*.*?\*/|[=(,:\[!&|?{};]\s*/(?![*/])(?:[^/\\\r\n\[]|\\.|\[(?:[^\]\\\r\n]|\\.)*\])+/"
    r"|(?P<text>\"(?:[^\"\\\r\n]|\\.)*\"|'(?:[^'\\\r\n]|\\.)*'|`(?:[^`\\]|\\.)*`)(?P<joins>\s*\+\s*(?=[\"'`]))?",
    re.DOTALL,
)
_SCRIPT_ESCAPE = re.compile(
    r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL
)
_SCRIPT_SHORT = {**dict(zip("ntrbfv0", "\n\t\r\b\f\v\0", strict=True)), "\n": "", "\r\n": ""}


def _script(text: str) -> Iterator[_Literal]:
    parts: list[_Part] = []
    for one in _SCRIPT.finditer(text):
        if token := one["text"]:
            parts.append(_Part(*one.span("text"), _script_value(token)))
            if not one["joins"]:
                yield tuple(parts)
                parts = []


def _script_value(token: str) -> str:
    """The text of a literal; a template with a value in it is read as its source, which is no text."""
    if token[0] == "`" and re.search(r"(?<!\\)(?:\\\\)*\$\{", token):
        return token
    body = token[1:-1].replace("\r\n", "\n") if token[0] == "`" else token[1:-1]

    def plain(found: re.Match[str]) -> str:
        code = found[1] or found[2] or found[3]
        return chr(int(code, 16)) if code else _SCRIPT_SHORT.get(found[4], found[4])

    value = _SCRIPT_ESCAPE.sub(plain, body)
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _script_forms(token: str, text: str) -> Iterator[str]:
    quote = token[0]
    body = _escaped(text, quote, _json_code, keeps="\n" * (quote == "`"))
    yield quote + (body.replace("${", "\\${") if quote == "`" else body) + quote


_Language = tuple[Callable[[str], Iterator[_Literal]], Callable[[str, str], Iterator[str]]]
_LANGUAGES: dict[str, _Language] = {
    ".py": (_python, _python_forms),
    ".json": (_json, _json_forms),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"), (_script, _script_forms)),
}
"""By a file's suffix, what reads its literals, and the forms of a literal with another text."""
