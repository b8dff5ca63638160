"""A committed snapshot of what servers declare (`tools.lock.json`), and what became of it since.

The file is made to be read as a difference: sorted, a line of a text to a line of the file, hidden characters
as their codes. Each tool has its whole definition and the hash of it, so what was edited by hand or merged
badly is noticed.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from inspector.config.file import MAX_BYTES, read_bytes, read_text, unusable
from inspector.config.server_change import replace_file
from inspector.core.definition import DefinitionChange, definition_changes, definition_hash, judged
from inspector.core.error import ConfigError
from inspector.core.redaction import clean
from inspector.core.tool import Annotations, Tool, task_support
from inspector.features.check.finding import Finding, Rule, Stage, rules
from inspector.features.check.trust_rule import is_hidden

VERSION = 1
_KIND = "toolsight-lock"
_BEGINNING = 100
_HINT = "Restore the file from version control, or write it again with `--update`."

RULES = rules(
    Stage.TRUST,
    """
    tool-added | warning | A tool is new
      Nobody accepted it yet. If it is meant to be there, accept it with `--update`.
    tool-removed | error | A tool is gone
      Calls to it fail. If that is intended, accept it with `--update`.
    words-changed | warning | Words of a definition changed
      A model reads other words than those that were accepted. Read them, and accept them with `--update`.
    schema-breaks | error | A schema broke
      Calls that were right are no longer, or results differ. If that is intended, accept it with `--update`.
    schema-changed | warning | A schema changed and breaks nothing
      A tool takes more than was accepted, or says more of its result. Accept it with `--update`.
    annotations-changed | warning | Annotations changed
      Clients decide by these hints which calls need approval. Accept them with `--update`.
    instructions-changed | warning | Instructions changed
      Clients read them with every request. Read them, and accept them with `--update`.
    """,
)
ADDED, REMOVED, WORDS, BREAKS, WIDENS, CLAIMS, INSTRUCTIONS = RULES
_MOST_LINES = 20


class Snapshot(Struct, frozen=True):
    """The tools of servers by id, and each server's instructions ("" for none), without secrets."""

    tools: Mapping[str, Tool]
    instructions: Mapping[str, str]

    @classmethod
    def of(cls, tools: Iterable[Tool], instructions: Mapping[str, str]) -> Self:
        """What servers declare now; of two tools with the same id the first counts."""
        found: dict[str, Tool] = {}
        for tool in tools:
            found.setdefault(tool.id, clean(tool))
        servers = sorted({*instructions, *(tool.server for tool in found.values())})
        said = {server: clean(instructions.get(server, "")) for server in servers}
        return cls({one: found[one] for one in sorted(found)}, said)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The snapshot in a file. Raises ConfigError, also for a damaged one or another version."""
        data = _document(path)
        try:
            tools: list[Tool] = []
            for server, entry in data["servers"].items():
                for name, one in entry["tools"].items():
                    tools.append(_tool(server, name, one["definition"]))
                    if definition_hash(tools[-1]) != one["hash"]:
                        problem = f"{path}: the definition of {server}:{name} does not fit its hash"
                        raise ConfigError(problem, hint=f"It was edited by hand or merged. {_HINT}")
            said = {server: _joined(entry["instructions"]) for server, entry in data["servers"].items()}
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ConfigError(f"{path} is damaged: {error!r:.80}", hint=_HINT) from error
        return cls({tool.id: tool for tool in tools}, said)

    def without(self, servers: Collection[str]) -> Self:
        """The same without some servers, as of those that cannot be compared."""
        tools = {one: tool for one, tool in self.tools.items() if tool.server not in servers}
        return type(self)(tools, {one: said for one, said in self.instructions.items() if one not in servers})

    def write(self, path: Path) -> None:
        """Write the file, or replace it at once. Raises ConfigError."""
        data = self.text().encode()
        if path.exists():
            replace_file(path, read_bytes(path, "snapshot"), data, backs_up=False)
            return
        try:
            path.write_bytes(data)
        except (OSError, ValueError) as error:
            raise unusable(path, error, "written") from error

    def text(self) -> str:
        """The file: the same text for the same definitions in any order."""
        servers: dict[str, Any] = {
            server: {"instructions": _split(said), "tools": {}} for server, said in self.instructions.items()
        }
        for tool in self.tools.values():
            entry = {"hash": definition_hash(tool), "definition": _declared(tool)}
            servers[tool.server]["tools"][tool.name] = entry
        data = {"kind": _KIND, "version": VERSION, "servers": servers}
        shown = json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True)
        return re.sub(r"[^ -~\n]", _escaped, shown) + "\n"


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON writes it, by its code if nobody would see it."""
    is_shown = found[0].isprintable() and not is_hidden(found[0])
    return found[0] if is_shown else json.dumps(found[0])[1:-1]


def is_snapshot(path: Path) -> bool:
    """Whether a file says that it is one. Raises ConfigError if it cannot be read."""
    return f'"kind": "{_KIND}"' in read_text(path, "file", limit=MAX_BYTES)[:_BEGINNING]


def _document(path: Path) -> dict[str, Any]:
    missing = "Write it with `--update`, and commit it."
    text = read_text(path, "snapshot", limit=MAX_BYTES, missing=missing)
    try:
        # Servers may send numbers that are no JSON, so they are read as they are written.
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is damaged: {error}", hint=_HINT) from error
    if not isinstance(data, dict) or data.get("kind") != _KIND:
        raise ConfigError(f"{path} is no snapshot of tools", hint=_HINT)
    version = data.get("version")
    if version != VERSION:
        newer = isinstance(version, int) and version > VERSION
        hint = "Update Toolsight." if newer else "Write it again with `--update`."
        raise ConfigError(f"{path} has format version {version}, not {VERSION}", hint=hint)
    return data


def _declared(tool: Tool) -> dict[str, Any]:
    """What a tool declares; what it leaves out is left out."""
    claims = {name: value for name, value in to_builtins(tool.annotations).items() if value is not None}
    given = {**to_builtins(tool), "annotations": claims or None, "description": _split(tool.description)}
    given["meta"] = tool.meta or None
    for name in ("server", "name", "beside", "page"):
        del given[name]
    return {name: value for name, value in given.items() if value not in (None, "", ())}


def _tool(server: str, name: str, given: Mapping[str, Any]) -> Tool:
    return Tool(
        server,
        name,
        _joined(given.get("description", "")),
        given["input_schema"],
        Annotations(**given.get("annotations", {})),
        given.get("output_schema"),
        given.get("title", ""),
        tuple(given.get("tags", ())),
        dict(given.get("meta", {})),
        task_support({"taskSupport": given.get("task_support")}),
    )


def _split(text: str) -> str | list[str]:
    """A text of several lines as those, so that a difference shows the one that changed."""
    return text.split("\n") if "\n" in text else text


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "\n".join(text)


def drift(before: Snapshot, after: Snapshot) -> Iterator[Finding]:
    """What became of the definitions and instructions since they were accepted; nothing if nothing did."""
    for id_ in sorted({*before.tools, *after.tools}):
        old, new = before.tools.get(id_), after.tools.get(id_)
        if old is None and new is not None:
            yield Finding(ADDED, new.server, new.name, "The tool is not in the snapshot.", new.description)
        elif new is None and old is not None:
            accepted = f"accepted as {definition_hash(old)[:12]}"
            yield Finding(REMOVED, old.server, old.name, "The server no longer has the tool.", accepted)
        elif old is not None and new is not None and definition_hash(old) != definition_hash(new):
            yield from _changed(old, new)
    for server in sorted({*before.instructions, *after.instructions}):
        said, says = before.instructions.get(server, ""), after.instructions.get(server, "")
        yield from _said(server, said, says)


def _changed(old: Tool, new: Tool) -> Iterator[Finding]:
    parts = {change.part: change for change in definition_changes(old, new)}
    words = [parts[part] for part in ("title", "description", "tags", "_meta") if part in parts]
    schemas = [parts[part] for part in ("parameters", "result") if part in parts]
    if schemas:
        change = judged(old, replace(new, annotations=old.annotations))
        reasons = "; ".join(change.reasons)
        if change.verdict == "breaking":
            yield _finding(BREAKS, new, f"Its schema breaks callers: {reasons}.", schemas)
        elif change.verdict == "compatible":
            yield _finding(WIDENS, new, f"Its schema changed: {reasons or 'in its values'}.", schemas)
        else:
            words += schemas
    if words:
        yield _finding(WORDS, new, f"Other words: {', '.join(change.part for change in words)}.", words)
    if claims := parts.get("annotations"):
        reasons = "; ".join(judged(old, replace(old, annotations=new.annotations)).reasons)
        yield _finding(CLAIMS, new, f"Its annotations changed: {reasons or 'they mean the same'}.", [claims])


def _said(server: str, said: str, says: str) -> Iterator[Finding]:
    if said == says:
        return
    changes = definition_changes(Tool(server, "", said), Tool(server, "", says))
    yield Finding(INSTRUCTIONS, server, "", "The server's instructions changed.", _difference(changes))


def _finding(rule: Rule, tool: Tool, message: str, changes: Iterable[DefinitionChange]) -> Finding:
    return Finding(rule, tool.server, tool.name, message, _difference(changes))


def _difference(changes: Iterable[DefinitionChange]) -> str:
    """What was accepted, and what is there now."""
    lines = [
        f"{sign} {text}"
        for change in changes
        for pair in change.lines
        for sign, text in zip("-+", pair, strict=True)
        if text
    ]
    more = len(lines) - _MOST_LINES
    return "\n".join((*lines[:_MOST_LINES], *((f"… {more:,} more",) if more > 0 else ())))
