"""The texts of the manifest page: the tokens of each entry, and tools[] as readable JSON."""

import json
from collections.abc import Mapping, Sequence

from textual.content import Content

from inspector.app.draw.style import MUTED
from inspector.domain.budget import Tokenizer
from inspector.domain.message import ModelRequest, NoteMessage
from inspector.domain.number import count
from inspector.domain.session import SessionState
from widgets import Column, Record, Tone

COLUMNS = (
    Column("what", "part of the request", weight=4, shorten="middle", min_width=16),
    Column("tokens", "tokens", align="right", weight=9),
)


_NOT_READY = "No server is ready yet (see Tools)."
_NO_MANIFEST = (
    "No tool is deferred, so the model gets every tool and no manifest.\n"
    "`defer_loading: true` in the configuration defers a server."
)
_ADVISES = "Every tool is bound, so there is no manifest: search_tools only helps the model choose one."


def why_empty(session: SessionState) -> str:
    """Return why there is no manifest, and what to do."""
    if not session.ready_servers:
        return _NOT_READY
    return _ADVISES if session.advisory else _NO_MANIFEST


def offers(request: ModelRequest) -> tuple[NoteMessage, ...]:
    """Return the notes with definitions that a gate gives in the conversation."""
    return tuple(m for m in request.messages if isinstance(m, NoteMessage) and m.offers)


def pretty(request: ModelRequest) -> str:
    """Return tools[] indented; it is sent compact."""
    return json.dumps(request.tools, ensure_ascii=False, indent=2) if request.tools else ""


def token_rows(
    request: ModelRequest,
    system: int,
    entries: Sequence[int],
    offered: int = 0,
    ids: Mapping[str, str] | None = None,
) -> tuple[Record, ...]:
    """Return the tokens of the system prompt, of every entry of tools[], and of tools[] as a whole.

    `offered` counts the definitions that a gate gives right before the user's message. `ids` has the tools'
    ids by the names that the model calls them; they are what is copied.
    """
    ids = ids or {}
    names = [str(entry["function"]["name"]) for entry in request.tools]
    rows = [_row("system prompt", system, "muted")]
    rows += [_row(name, tokens, copy=ids.get(name, "")) for name, tokens in zip(names, entries, strict=True)]
    rows.append(_row(f"whole array of {len(names)}", sum(entries), "accent"))
    return (*rows, _row("before the message", offered)) if offered else tuple(rows)


def label(tokenizer: Tokenizer, session: SessionState) -> Content:
    """Return the tokenizer of the counts, and what was cut from the manifest to fit its budget."""
    lines = [Content.styled(f"tokens counted by {tokenizer.label} in the compact JSON that is sent", MUTED)]
    lines += [Content.styled(f"shortened: {rule}", "$text-warning") for rule in session.manifest_rules]
    limit = session.settings.get("manifest", {}).get("max_tokens")
    if session.manifest_rules and limit:
        lines.append(Content.styled(f"to fit in {count(limit, 'token')} (manifest.max_tokens)", MUTED))
    return Content("\n").join(lines)


def _row(name: str, tokens: int, tone: Tone = "", *, copy: str = "") -> Record:
    shown = f"{tokens:,}".replace(",", " ")
    return Record(name, (name, shown), tone, copy=copy)
