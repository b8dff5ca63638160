"""Transcripts of Claude Code: JSON Lines, a record a line; docs/papers/transcripts.md has the sources.

A reply is written in several records, one for each of its blocks, with the same message id and the usage on
each of them. What was resumed or forked begins with a copy of what went before.
"""

import re
from dataclasses import replace
from typing import Any

from inspector.adapters.files.transcript.claude_answer import Answers
from inspector.adapters.files.transcript.claude_attachment import Attachments
from inspector.adapters.files.transcript.claude_result import Results
from inspector.adapters.files.transcript.field import count, mapping, mappings, moment, said, text
from inspector.adapters.files.transcript.flow import Flow, Seen
from inspector.domain.transcript import Asked, Begun, Compacted, Entry, Interrupted, Tally

CONVERSATION = frozenset({"user", "assistant", "system", "attachment"})
STATES = frozenset(
    {"summary", "progress", "last-prompt", "ai-title", "custom-title", "mode", "permission-mode"}
    | {"queue-operation", "file-history-snapshot", "file-history-delta", "bridge-session", "pr-link"}
    | {"agent-name", "agent-color", "atis-latch", "worktree-state", "relocated", "frame-link", "cost-state"}
    | {"fork-context-ref"}
)
_COPY, _SIDECHAIN = "copied history", "sidechain"
_INTERRUPTED = "[Request interrupted by user"
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_NOT_ASKED = (
    *("<task-notification>", "<command-name>", "<command-message>", "<local-command-stdout>"),
    *(
        "<local-command-stderr>",
        "<local-command-caveat>",
        "<bash-input>",
        "<bash-stdout>",
        "Caveat: The mess",
    ),
)


class ClaudeCodeReader:
    """Reads the records of a session or of a sub-agent, whichever the first one belongs to."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._flow = Flow()
        self._attachments = Attachments(self._flow, tally)
        self._seen = Seen()
        self._results = Results(self._flow, self._attachments, self._seen, tally)
        self._answers = Answers(self._flow, self._results, self._seen, tally)
        self._compacted: Compacted | None = None
        self._of_sidechain: bool | None = None

    def read(self, record: dict[str, Any]) -> list[Entry]:
        """The entries that are finished with this record."""
        kind = text(record.get("type"))
        if kind not in CONVERSATION:
            self._pass_over(kind)
        elif self._is_own(record):
            at = moment(record.get("timestamp"), self._tally)
            self._begin(record, at)
            if kind == "assistant":
                self._tell_compaction()
                self._answers.read(record, at)
            else:
                self._between_answers(kind, record, at)
        return self._flow.take()

    def finish(self) -> list[Entry]:
        """The entries that waited for more; a piece of the last answer that comes later is one by itself."""
        self._answers.close()
        self._tell_compaction()
        return self._flow.finish()

    def _pass_over(self, kind: str) -> None:
        if kind in STATES or kind.startswith("artifact-"):
            self._tally.leave_out(kind)
        else:
            self._tally.count_unknown(kind)

    def _is_own(self, record: dict[str, Any]) -> bool:
        """Whether the record belongs to this conversation and was not read before."""
        sidechain = record.get("isSidechain") is True
        if self._of_sidechain is None:
            self._of_sidechain = sidechain
        uuid = text(record.get("uuid"))
        if uuid and not self._seen.add("uuid", uuid):
            self._tally.leave_out(_COPY)
        elif sidechain and not self._of_sidechain:
            self._tally.leave_out(_SIDECHAIN)
        else:
            return True
        return False

    def _begin(self, record: dict[str, Any], at: float | None) -> None:
        """Begin the session that the record belongs to; a fork's file holds its parent's records, too."""
        session, agent = text(record.get("sessionId")), text(record.get("agentId"))
        of_agent = bool(self._of_sidechain)
        own, parent = (agent if of_agent and agent else session), (session if of_agent else "")
        begun = self._flow.begun
        if begun is not None and (not session or (begun.session, begun.parent) == (own, parent)):
            return
        self._answers.close()
        self._tell_compaction()
        self._flow.begin_next(
            Begun(
                "claude-code",
                session=own,
                version=text(record.get("version")),
                folder=text(record.get("cwd")),
                parent=parent,
                at=at,
            )
        )

    def _between_answers(self, kind: str, record: dict[str, Any], at: float | None) -> None:
        answer = self._flow.answer
        # A reply that is still streamed has no stop reason yet; results of its first calls may come already.
        if answer is not None and answer.finish_reason:
            self._answers.close()
        if record.get("isCompactSummary") is True:
            self._summary(said(mapping(record.get("message")).get("content")), at)
            return
        if kind == "attachment":
            self._attachments.read(mapping(record.get("attachment")), at)
            return
        self._tell_compaction()
        if kind == "user":
            self._user(record, at)
        else:
            self._system(record, at)

    def _user(self, record: dict[str, Any], at: float | None) -> None:
        message = mapping(record.get("message"))
        content = message.get("content")
        words = [content] if isinstance(content, str) else []
        details = record.get("toolUseResult")
        for block in mappings(content):
            kind = text(block.get("type"))
            if kind == "tool_result":
                self._results.read(block, mapping(details), at)
            elif kind == "text":
                words.append(text(block.get("text")))
            elif kind in ("image", "document"):
                self._tally.leave_out(kind)
            else:
                self._tally.count_unknown(f"block {kind}")
        if words:
            self._said_by_user("\n".join(words), record, at)
        elif not isinstance(content, list):
            self._tally.count_malformed("a message without content")

    def _said_by_user(self, words: str, record: dict[str, Any], at: float | None) -> None:
        words = _REMINDER.sub("", words).strip()
        if words.startswith(_INTERRUPTED):
            self._answers.close()
            self._flow.add(Interrupted(words, by_user=True, at=at))
        elif record.get("isMeta") is True or words.startswith(_NOT_ASKED) or not _by_human(record):
            self._tally.leave_out("not written by the user")
        elif words:
            self._answers.close()
            self._flow.add(Asked(words, at))

    def _system(self, record: dict[str, Any], at: float | None) -> None:
        kind = text(record.get("subtype"))
        if kind != "compact_boundary":
            self._tally.leave_out(f"system {kind}")
            return
        self._answers.close()
        told = mapping(record.get("compactMetadata"))
        self._compacted = Compacted(
            before=count(told.get("preTokens")),
            after=count(told.get("postTokens")),
            automatic=told.get("trigger") == "auto",
            at=at,
        )

    def _summary(self, summary: str, at: float | None) -> None:
        self._answers.close()
        self._compacted = replace(self._compacted or Compacted(at=at), text=summary)
        self._tell_compaction()

    def _tell_compaction(self) -> None:
        compacted, self._compacted = self._compacted, None
        if compacted is not None:
            self._flow.add(compacted)


def _by_human(record: dict[str, Any]) -> bool:
    return text(mapping(record.get("origin")).get("kind")) in ("", "human")
