"""An audit as JSON, and the totals of a stored one."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from inspector.cli.cost.json import session_json
from inspector.measure.audit.growth import Change, Key, Tokens
from inspector.measure.audit.result import Audit, ConfigurationAudit, ServerAudit, ToolAudit

VERSION = 2
"""The format's version: it increases when a key changes its meaning or is removed."""
_READ = frozenset({1, 2})


def audit_json(audit: Audit, moved: Sequence[Change] | None, limit: float) -> dict[str, Any]:
    """The whole audit; `growth` is present only if there is a baseline."""
    first = audit.first_call
    whole = {
        "version": VERSION,
        **asdict(audit.basis),
        "configurations": [_configuration(one) for one in audit.configurations],
        "problems": [asdict(problem) for problem in audit.problems],
        "empty": list(audit.empty),
        "first_call": None
        if first is None
        else {**asdict(first), "saved": first.saved, "saved_fraction": first.saved_fraction},
    }
    return whole if moved is None else {**whole, "growth": [_change(change, limit) for change in moved]}


def stored_totals(value: object) -> tuple[dict[Key, Tokens], str]:
    """The tokens and the tokenizer of a parsed `audit_json`. Raises ValueError for anything else."""
    if not isinstance(value, dict) or value.get("version") not in _READ:
        raise ValueError(f"expected audit version {VERSION}")
    try:
        tokenizer = str(value["tokenizer"]["name"])
        return {_key(one): dict(map(_tokens, one["servers"])) for one in value["configurations"]}, tokenizer
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"unexpected format: {error}") from error


def _key(one: dict[str, Any]) -> Key:
    return str(one["client"]), str(one["scope"]), str(one["source"])


def _tokens(server: dict[str, Any]) -> tuple[str, int | None]:
    tokens = server["tokens"]
    if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0):
        raise ValueError(f"{tokens!r} is not a token count")
    return str(server["name"]), tokens


def _configuration(one: ConfigurationAudit) -> dict[str, Any]:
    return {
        "client": one.client,
        "scope": one.scope,
        "source": one.source,
        "tools": len(one.tools),
        "tokens": one.tokens,
        "estimate": one.estimate,
        "estimate_error": one.error,
        "window_share": one.share,
        "discovery_tokens": one.discovery,
        "saved": one.saved,
        "saved_fraction": one.saved_fraction,
        "session": None if one.session is None else session_json(one.session, requests=False),
        "servers": [_server(server) for server in one.servers],
        "suggestions": [asdict(suggestion) for suggestion in one.suggestions],
    }


def _server(server: ServerAudit) -> dict[str, Any]:
    reading = server.reading
    measured = reading.is_measured
    return {
        "name": server.name,
        "measured": measured,
        "snapshot_at": reading.at,
        "reason": reading.reason,
        "hint": reading.hint,
        "tools": len(server.tools) if measured else None,
        "left_out": reading.left_out,
        "tokens": server.tokens if measured else None,
        "estimate": server.estimate if measured else None,
        "estimate_error": server.error if measured else None,
        "window_share": server.share if measured else None,
        "definitions": [_tool(tool) for tool in server.tools],
    }


def _tool(tool: ToolAudit) -> dict[str, Any]:
    cost = tool.cost
    return {
        "id": tool.id,
        **asdict(cost),
        "tokens": cost.tokens,
        "estimate": cost.estimate,
        "error": cost.error,
    }


def _change(change: Change, limit: float) -> dict[str, Any]:
    client, scope, source = change.key
    return {
        "client": client,
        "scope": scope,
        "source": source,
        "before": change.before,
        "after": change.after,
        "increase": change.increase if change.is_compared and change.before else None,
        "exceeds": change.exceeds(limit),
        "servers": [
            {"name": name, "before": before, "after": after} for name, before, after in change.servers
        ],
        "skipped": list(change.skipped),
    }
