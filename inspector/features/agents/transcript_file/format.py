"""The formats of transcripts: how each is recognised, what reads it, and which files make one transcript.

A format is recognised by what no other program is known to write, never by the name of a file.
"""

import re
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Any

from inspector.features.agents.transcript_file import (
    chat,
    claude_code,
    codex,
    copilot,
    gemini,
    journal,
    opencode,
    otel,
    vscode,
)
from inspector.features.agents.transcript_file.message import value_at
from inspector.features.agents.transcript_file.record_reader import RecordReader, mappings, text
from inspector.schema.json_value import as_object


class Format(StrEnum):
    """A format of transcripts, by the program that writes it."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    VSCODE = "vscode"
    COPILOT = "copilot-cli"
    OTEL = "opentelemetry"
    QWEN = "qwen-code"
    GEMINI = "gemini-cli"
    OPENCODE = "opencode"
    CLINE = "cline"
    CONTINUE = "continue"
    KIMI = "kimi-code"
    VIBE = "vibe"
    DROID = "droid"
    OPENHANDS = "openhands"
    FAST_AGENT = "fast-agent"
    GPTME = "gptme"


_READERS: tuple[type[RecordReader], ...] = (
    *(claude_code.ClaudeCodeReader, codex.CodexReader, vscode.VSCodeReader, copilot.CopilotReader),
    *(otel.OTelReader, gemini.QwenReader, gemini.GeminiReader, opencode.OpencodeReader, chat.ClineReader),
    *(chat.ContinueReader, journal.KimiReader, journal.VibeReader, chat.DroidReader),
    *(journal.OpenHandsReader, chat.FastAgentReader, chat.GptmeReader),
)
READERS = dict(zip(Format, _READERS, strict=True))
"""What reads each format."""
# A document of one value may be too large to read it only to see what it is.
_DOCUMENTS = tuple(
    (kind, re.compile(pattern, re.DOTALL))
    for kind, pattern in (
        (Format.OTEL, r'"resourceSpans"\s*:\s*\['),
        (Format.VSCODE, r'"requests"\s*:\s*\[(?:\s*\{\s*"requestId"|.*"(?:variableData|responseId)")'),
        (Format.VSCODE, r'"responderUsername"\s*:.*"requests"\s*:\s*\['),
        (Format.GEMINI, r'"projectHash"\s*:.*"startTime"\s*:.*"messages"\s*:\s*\['),
        (Format.OPENCODE, r'^\{\s*"info"\s*:\s*\{\s*"id"\s*:\s*"ses_'),
        (Format.CLINE, r'"updated_at"\s*:.*"agent"\s*:.*"sessionId"\s*:.*"messages"\s*:\s*\['),
        (Format.CONTINUE, r'"sessionId"\s*:.*"workspaceDirectory"\s*:.*"history"\s*:\s*\['),
        (Format.FAST_AGENT, r'^\{\s*"messages"\s*:\s*\[.*"(?:is_template|fast-agent-[a-z-]+)"\s*:'),
    )
)


def document_of(head: str) -> Format | None:
    """The format of a document that begins so, or None."""
    return next((kind for kind, pattern in _DOCUMENTS if pattern.search(head)), None)


def format_of(record: dict[str, Any]) -> Format | None:
    """The format that a record belongs to, or None. Other programs write records that are much alike."""
    kind = text(record.get("type"))
    if "resourceSpans" in record:
        return Format.OTEL
    if isinstance(record.get("requests"), list) and _is_chat(record):
        return Format.VSCODE
    if kind in codex.KINDS and isinstance(record.get("payload"), dict):
        return Format.CODEX
    if _is_claude_code(record, kind):
        return Format.CLAUDE_CODE
    if copilot.is_event(record):
        return Format.COPILOT
    found = (kind for kind, keys, test in _MARKS if all(key in record for key in keys) and test(record))
    return next(found, None)


def _is_chat(record: dict[str, Any]) -> bool:
    return "responderUsername" in record or any("requestId" in one for one in mappings(record["requests"]))


def _is_claude_code(record: dict[str, Any], kind: str) -> bool:
    """Whether no other program writes such a record: several have the same frame around other messages."""
    if kind in ("user", "assistant"):
        is_message = isinstance(value_at(record, "message.content"), str | list)
        return is_message and isinstance(record.get("sessionId"), str)
    if kind == "attachment":
        return "sessionId" in record and bool(as_object(record.get("attachment")))
    is_state = kind in claude_code.STATES and kind != "progress"
    return is_state and ("sessionId" in record or "leafUuid" in record or "messageId" in record)


_EVENTS = frozenset({"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"})
# What only the records of these programs have: keys, and what else is in them.
_MARKS: tuple[tuple[Format, tuple[str, ...], Callable[[dict[str, Any]], bool]], ...] = (
    (Format.VIBE, ("recovery_journal_record_version", "sequence", "payload"), bool),
    (Format.GEMINI, ("sessionId", "projectHash", "startTime"), bool),
    (Format.DROID, ("owner", "version", "id"), lambda one: one.get("type") == "session_start"),
    (Format.KIMI, ("protocol_version", "created_at"), lambda one: one.get("type") == "metadata"),
    (Format.OPENHANDS, ("source", "id", "timestamp"), lambda one: one.get("kind") in _EVENTS),
    (
        Format.QWEN,
        ("uuid", "parentUuid", "sessionId"),
        lambda one: "systemPayload" in one or isinstance(value_at(one, "message.parts"), list),
    ),
    (
        Format.GPTME,
        ("role", "content", "timestamp"),
        lambda one: one.get("pinned") is True or "input_log_digest" in as_object(one.get("metadata")),
    ),
)


# The files that follow one another.
_SEVERAL = {Format.OPENHANDS: "event-*.json", Format.VIBE: "[0-9]*.jsonl"}
# Where the record of the whole session is.
_BESIDE: dict[Format, Callable[[Path], Path]] = {
    Format.CLINE: lambda path: path.with_name(path.name.replace(".messages.", ".")),
    Format.DROID: lambda path: path.with_suffix(".settings.json"),
    Format.KIMI: lambda path: path.parent.parent.parent / "state.json",
    Format.FAST_AGENT: lambda path: path.with_name("session.json"),
    Format.OPENHANDS: lambda path: path.parent.parent / "base_state.json",
    Format.VIBE: lambda path: path.parent.parent / "meta.json",
}


def first_file(kind: Format, path: Path) -> Path:
    """The file that stands for a transcript which has several, or of which an older copy was kept."""
    newest = path.with_name(path.name.replace("_previous.", "."))
    return newest if kind is Format.FAST_AGENT and newest.is_file() else _own(kind, path)[0]


def files_of(kind: Format, path: Path) -> list[Path]:
    """The files of a transcript, in the order in which they are read; some may be missing."""
    own = _own(kind, path.absolute())
    return [_BESIDE[kind](own[0]), *own] if kind in _BESIDE else own


def _own(kind: Format, path: Path) -> list[Path]:
    found = sorted(path.parent.glob(_SEVERAL[kind])) if kind in _SEVERAL else []
    return found if path in found else [path]
