"""What a tool's name and parameters say it does, and the claims of its server that they contradict."""

import re
from typing import Final

from inspector.core.tool import Tool
from inspector.schema.schema import SchemaField, fields

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DESTROYING: Final = "delete remove drop purge erase wipe destroy uninstall revoke kill terminate"
# No words that are nouns as often (post, order, book) or may name a mere computation (add, merge, replace).
_CHANGING: Final = (
    "write create update insert upsert modify edit rename overwrite send pay transfer refund buy purchase "
    "publish upload cancel"
)
# Destroys less for sure, so that no claim is doubted for it.
_ENDING: Final = "cancel void discard trash clear reset deactivate disable suspend unlock refund"
_READING: Final = (
    "get list search find read check show describe count fetch query lookup view retrieve inspect preview "
    "validate is has"
)
_DESTROYS: Final = frozenset(_DESTROYING.split())
_CHANGES: Final = _DESTROYS.union(_CHANGING.split())
_ENDS: Final = _DESTROYS.union(_ENDING.split())
# `get_delete_policy` only reads; in `find_and_delete` what comes after “and” is done as well.
_READS: Final = frozenset(_READING.split())
_JOINS: Final = frozenset({"and", "or", "then"})
_ACTIONS: Final = frozenset({"action", "operation", "method"})
_PATHS: Final = frozenset({"path", "file path", "file", "filename", "file name"})
_CONTENTS: Final = frozenset({"content", "contents", "file content"})


def contradiction(tool: Tool) -> str:
    """What speaks against the server's claims that the tool only reads or destroys nothing; "" if nothing.

    Only the name, its parameters and the other claims are looked at, so nothing found proves nothing. The
    words that are quoted are Toolsight's own.
    """
    claims = tool.annotations
    if claims.read_only:
        against = _against_reading(tool)
        return f"its server says it is read-only, but {against}" if against else ""
    word = _said(tool.name, _DESTROYS) if claims.destructive is False else ""
    return f"its server says it is not destructive, but its name says “{word}”" if word else ""


def destroys(tool: Tool) -> bool:
    """Whether a tool may destroy something, by its server's claim, its name or its choices of an action."""
    claims = tool.annotations
    if claims.destructive and not claims.read_only:
        return True
    return bool(destroying_word(tool))


def destroying_word(tool: Tool) -> str:
    """The word of a tool's name, or else of its choices, that says that it destroys or ends something."""
    return _said(tool.name, _ENDS) or _chosen(fields(tool.input_schema), _DESTROYS)[1]


def _against_reading(tool: Tool) -> str:
    if word := _said(tool.name, _CHANGES):
        return f"its name says “{word}”"
    if tool.annotations.destructive:
        return "also that it may destroy or overwrite data"
    # A tool that is named for reading may filter by what was done, or look for a content in a file.
    return "" if _READS.intersection(_words(tool.name)) else _taken(fields(tool.input_schema))


def _said(name: str, wanted: frozenset[str]) -> str:
    """The first wanted word that the name has as what the tool does; "" if there is none."""
    words, reads = _words(name), False
    for before, word in zip(("", *words), words, strict=False):
        if word in wanted and (not reads or before in _JOINS):
            return word
        reads = reads or word in _READS
    return ""


def _taken(parameters: tuple[SchemaField, ...]) -> str:
    """How the parameters say that something is changed: by a choice of action, or by a file's new content."""
    names = {" ".join(_words(parameter.name)) for parameter in parameters}
    if names & _PATHS and names & _CONTENTS:
        return "it takes a file's path and content"
    name, word = _chosen(parameters, _CHANGES)
    return f"its parameter “{name}” can be “{word}”" if word else ""


def _chosen(parameters: tuple[SchemaField, ...], wanted: frozenset[str]) -> tuple[str, str]:
    """The parameter that lets the caller choose one of the wanted actions, and its word; "" for none."""
    for parameter in parameters:
        name = " ".join(_words(parameter.name))
        done = (_said(choice, wanted) for choice in parameter.choices if isinstance(choice, str))
        if name in _ACTIONS and (word := next(filter(None, done), "")):
            return name, word
    return "", ""


def _words(name: str) -> tuple[str, ...]:
    """The words of a name, split at signs, digits and capitals."""
    return tuple(word.lower() for word in _WORD.findall(name))
