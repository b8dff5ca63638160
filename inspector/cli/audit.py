"""`toolsight audit`: what the servers of every MCP client on this machine cost. It only reads files."""

from typing import Any

import click

from inspector.cli.assumption import assumed, assuming
from inspector.cli.audit_run import run_audit
from inspector.cli.audit_text import audit_report
from inspector.cli.cost import session_json
from inspector.cli.options import as_json, owner_options, shared
from inspector.cli.table import show
from inspector.core.report import selected
from inspector.measure.audit.result import Audit, ConfigurationAudit, ServerAudit

VERSION = 2
"""The format's version: it increases when a key changes its meaning or is removed."""


_PRICES = "{model input output cache_read cache_write cache_write_hour cache_minimum source date}"
_ASSUMED = (
    "calls calls_per_turn growth searches_per_call found search_tokens own_call gate_tools summary_tokens "
    "manifest_tokens meta_tokens call_tool_tokens seconds pause search_seconds output search_output seed"
)
_BASIS = (
    f"model tokenizer{{name exact}} window prices{_PRICES} assumed{{{_ASSUMED}}} "
    "terms{write read ttl_seconds minimum marked}"
)
_BUDGET = (
    "window parts{system instructions history tools meta output_reserve manifest pool searches} static_tools "
    "tokenizer{name exact} warn_at saved saved_fraction"
)
_CONFIGURATION = (
    "client scope source tokens estimate estimate_error:error window_share:share discovery_tokens:discovery "
    "saved saved_fraction suggestions{kind text tokens}"
)
_TOOL = (
    "id name:cost.name description:cost.description schema:cost.schema framing:cost.framing chars:cost.chars "
    "tokens:cost.tokens estimate:cost.estimate error:cost.error"
)
_SERVER = (
    "name measured:reading.is_measured snapshot_at:reading.at reason:reading.reason hint:reading.hint "
    f"left_out:reading.left_out definitions:tools{{{_TOOL}}}"
)
_COUNTED = "tokens estimate estimate_error:error window_share:share instruction_tokens:instructions"


def audit_json(audit: Audit) -> dict[str, Any]:
    """The whole audit."""
    return {
        "version": VERSION,
        **selected(audit.basis, _BASIS),
        "configurations": [_configuration(one) for one in audit.configurations],
        **selected(audit, f"problems{{client scope source error hint}} empty first_call{{{_BUDGET}}}"),
    }


def _configuration(one: ConfigurationAudit) -> dict[str, Any]:
    return {
        **selected(one, _CONFIGURATION),
        "tools": len(one.tools),
        "session": None if one.session is None else session_json(one.session, requests=False),
        "servers": [_server(server) for server in one.servers],
    }


def _server(server: ServerAudit) -> dict[str, Any]:
    """A server; what was not measured has no counts."""
    counted = {"tools": len(server.tools), **selected(server, _COUNTED)}
    if not server.reading.is_measured:
        counted = dict.fromkeys(counted)
    return {**selected(server, _SERVER), **counted}


@click.command()
@assuming
@shared
@as_json
def audit(**values: Any) -> None:
    """Measure the servers of every MCP client on this machine.

    Reads the files of Claude Desktop, Claude Code, Cursor, VS Code, Windsurf, Cline, Gemini CLI and
    Toolsight, or --config, and changes none of them. A server starts only with your consent, and only once
    even if several clients use it. Without consent, Toolsight measures the tools from the last connection,
    if there was one. Costs cover a whole session with its searches, as in `toolsight cost`.

    \b
    toolsight audit --config .mcp.json
    """
    terms = assumed(values)
    found = run_audit(owner_options(**values), terms)
    show(audit_json(found), audit_report(found))
