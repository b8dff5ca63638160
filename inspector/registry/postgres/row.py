"""Rows of the registry's tables: a version of a tool, and text as PostgreSQL can store it."""

import re

from inspector.core.registered_tool import RegisteredTool
from inspector.registry.acceptance import definition_of, tool_in
from inspector.registry.embedding import embedded_text
from inspector.search.document import key_of

# PostgreSQL takes neither of the two, and servers may declare tools with names of them. They are written as a
# lead and digits: NUL and the characters that serve as marks themselves as a lead with two digits, surrogates
# and the other lead with twelve. No mark is a character of a stored text otherwise, so that a pattern finds
# in stored texts exactly what it finds in the original ones. Any other text is stored as it is.

_LOW, _ZERO, _ONE, _HIGH = "\x01", "\x02", "\x03", "\ud7ff"
_LOW_DIGITS, _HIGH_DIGITS = 2, 12
_ODD = re.compile("[\0-\x03\ud7ff-\udfff]")
_WRITTEN = re.compile(f"{_LOW}[{_ZERO}{_ONE}]{{{_LOW_DIGITS}}}|{_HIGH}[{_ZERO}{_ONE}]{{{_HIGH_DIGITS}}}")
_DIGITS = str.maketrans("01", f"{_ZERO}{_ONE}")
_BITS = str.maketrans(f"{_ZERO}{_ONE}", "01")

# One character of the original text, as a regular expression of PostgreSQL over the stored one.
ONE_CHARACTER = f"(?:[^{_LOW}-{_ONE}{_HIGH}]|{_LOW}.{{{_LOW_DIGITS}}}|{_HIGH}.{{{_HIGH_DIGITS}}})"


def stored(text: str) -> str:
    """The text as it is stored; stored texts are in the order of their originals."""
    return _ODD.sub(_marked, text)


def original(text: str) -> str:
    """The text that was stored."""
    return _WRITTEN.sub(_read, text) if _LOW in text or _HIGH in text else text


def _marked(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < ord(_HIGH):
        return f"{_LOW}{code:0{_LOW_DIGITS}b}".translate(_DIGITS)
    return f"{_HIGH}{code - ord(_HIGH):0{_HIGH_DIGITS}b}".translate(_DIGITS)


def _read(found: re.Match[str]) -> str:
    lead, digits = found[0][0], found[0][1:]
    return chr((0 if lead == _LOW else ord(_HIGH)) + int(digits.translate(_BITS), 2))


Staged = tuple[str, int, str, str, str, float, bool, bytes, str]
"""Id, version, server, origin, hash, time, whether it is there, key and definition."""
Row = tuple[str, str, int, str, float, bool]
"""Definition, origin, version, hash, time and whether it is there, as `COLUMNS` selects them."""

COLUMNS = "v.definition, v.origin, v.version, v.hash, v.at, t.id IS NOT NULL"
# Every version with the tool if it is there now in that version; "JOIN" leaves only those.
VERSIONS = "toolsight.version v LEFT JOIN toolsight.tool t USING (id, version)"
NOW = "toolsight.tool t JOIN toolsight.version v USING (id, version)"


def staged(found: RegisteredTool) -> Staged:
    """The row of a version to be merged."""
    tool = found.tool
    named = stored(tool.id), found.version, stored(tool.server), stored(found.origin)
    return *named, found.hash, found.at, found.is_there, key_of(embedded_text(tool)), definition_of(tool)


def registered(row: Row) -> RegisteredTool:
    """The version in a row. Raises StoreError if it is damaged, or another program's."""
    definition, origin, version, hash_, at, is_there = row
    return RegisteredTool(tool_in(definition), original(origin), version, hash_, at, is_there)
