"""The formats of transcripts: how each is recognised, what reads it, and which files make one transcript.

A format is recognised by what no other program is known to write, never by the name of a file.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from inspector.features.agents.transcript_file import claude_code, codex
from inspector.features.agents.transcript_file.chat import (
    ClineReader,
    ContinueReader,
    DroidReader,
    FastAgentReader,
    GptmeReader,
)
from inspector.features.agents.transcript_file.claude_code import ClaudeCodeReader
from inspector.features.agents.transcript_file.codex import CodexReader
from inspector.features.agents.transcript_file.copilot import CopilotReader, is_event
from inspector.features.agents.transcript_file.gemini import GeminiReader, QwenReader
from inspector.features.agents.transcript_file.journal import KimiReader, OpenHandsReader, VibeReader
from inspector.features.agents.transcript_file.opencode import OpencodeReader
from inspector.features.agents.transcript_file.otel import OTelReader
from inspector.features.agents.transcript_file.record_reader import RecordReader, mappings, text
from inspector.features.agents.transcript_file.vscode import VSCodeReader
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


READERS: Mapping[Format, type[RecordReader]] = dict(
    zip(
        Format,
        (
            *(
                ClaudeCodeReader,
                CodexReader,
                VSCodeReader,
                CopilotReader,
                OTelReader,
                QwenReader,
                GeminiReader,
            ),
            *(OpencodeReader, ClineReader, ContinueReader, KimiReader, VibeReader, DroidReader),
            *(OpenHandsReader, FastAgentReader, GptmeReader),
        ),
        strict=True,
    )
)


# A document of one value may be too large to read it only to see what it is.
_DOCUMENTS = tuple(
    (kind, re.compile(pattern, re.DOTALL))
    for kind, pattern in (
        (Format.OTEL, r'"resourceSpans"\s*:\s*\['),
        (
            Format.VSCODE,
            r'"requests"\s*:\s*\[(?:\s*\{\s*"requestId"|.*"(?:variableData|responseId)")',
        ),
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
    if is_event(record):
        return Format.COPILOT
    found = (kind for kind, keys, test in _MARKS if all(key in record for key in keys) and test(record))
    return next(found, None)


def _is_chat(record: dict[str, Any]) -> bool:
    return "responderUsername" in record or any("requestId" in one for one in mappings(record["requests"]))


def _is_claude_code(record: dict[str, Any], kind: str) -> bool:
    """Whether no other program writes such a record: several have the same frame around other messages."""
    if kind in ("user", "assistant"):
        is_message = isinstance(as_object(record.get("message")).get("content"), str | list)
        return is_message and isinstance(record.get("sessionId"), str)
    if kind == "attachment":
        return "sessionId" in record and bool(as_object(record.get("attachment")))
    is_state = kind in claude_code.STATES and kind != "progress"
    return is_state and ("sessionId" in record or "leafUuid" in record or "messageId" in record)


_EVENTS = frozenset({"SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent"})
# What only the records of these programs have: keys, and what else is in them.
_Marks = tuple[Format, tuple[str, ...], Callable[[dict[str, Any]], bool]]
_MARKS: tuple[_Marks, ...] = (
    (Format.VIBE, ("recovery_journal_record_version", "sequence", "payload"), bool),
    (Format.GEMINI, ("sessionId", "projectHash", "startTime"), bool),
    (Format.DROID, ("owner", "version", "id"), lambda one: one.get("type") == "session_start"),
    (Format.KIMI, ("protocol_version", "created_at"), lambda one: one.get("type") == "metadata"),
    (Format.OPENHANDS, ("source", "id", "timestamp"), lambda one: one.get("kind") in _EVENTS),
    (Format.QWEN, ("uuid", "parentUuid", "sessionId"), lambda one: _has_parts(one) or "systemPayload" in one),
    (
        Format.GPTME,
        ("role", "content", "timestamp"),
        lambda one: one.get("pinned") is True or _is_logged(one),
    ),
)


def _has_parts(record: dict[str, Any]) -> bool:
    return isinstance(as_object(record.get("message")).get("parts"), list)


def _is_logged(record: dict[str, Any]) -> bool:
    return "input_log_digest" in as_object(record.get("metadata"))


def first_file(kind: Format, path: Path) -> Path:
    """The file that stands for a transcript which has several, or of which an older copy was kept."""
    match kind:
        case Format.OPENHANDS | Format.VIBE:
            return min(path.parent.glob(f"*{path.suffix}"), default=path)
        case Format.FAST_AGENT:
            newest = path.with_name(path.name.replace("_previous.", "."))
            return newest if newest.is_file() else path
        case _:
            return path


def files_of(kind: Format, path: Path) -> list[Path]:
    """The files of a transcript, in the order in which they are read; some may be missing."""
    path = path.absolute()
    above = path.parent.parent
    match kind:
        case Format.CLINE:
            return [path.with_name(path.name.replace(".messages.", ".")), path]
        case Format.DROID:
            return [path, path.with_suffix(".settings.json")]
        case Format.KIMI:
            return [above.parent / "state.json", path]
        case Format.FAST_AGENT:
            return [path.with_name("session.json"), path]
        case Format.OPENHANDS:
            return [above / "base_state.json", *sorted(path.parent.glob("event-*.json"))]
        case Format.VIBE:
            return [above / "meta.json", *sorted(path.parent.glob("*.jsonl"))]
        case _:
            return [path]
