"""Consent and approval on a terminal, without the app."""

import shlex
import sys

import click

from inspector.cli.render import say
from inspector.cli.run import interruptible
from inspector.domain.configuration import Configuration
from inspector.domain.consent import ServerConsent, describe
from inspector.domain.error import ConfigError
from inspector.domain.message import arguments_text
from inspector.engine.ports import ApprovalRequest, Decision, ServerMemory


def require_consent(configuration: Configuration, memory: ServerMemory, *, approve: bool) -> None:
    """Ask for consent before an unknown configuration starts anything; remember it for exactly this content.

    Raises ConfigError without consent.
    """
    if configuration.trusted or memory.is_approved(configuration.fingerprint()):
        return
    if not approve and not _ask(configuration):
        raise ConfigError(
            f"{configuration.source} has not been approved, so nothing was started",
            hint="Run the command in a terminal to see what it starts, or add --approve.",
        )
    memory.approve(configuration.fingerprint(), configuration.source)


def _ask(configuration: Configuration) -> bool:
    if not sys.stdin.isatty():
        return False
    say(f"{configuration.source} would start:", err=True)
    for server in describe(configuration):
        say(consent_text(server), err=True)
    with interruptible():
        return click.confirm("Start these?", default=False, err=True)


def consent_text(server: ServerConsent) -> str:
    """One server in the question: exactly what runs, and which variables it gets."""
    lines = [f"  {server.name}"]
    if server.executes:
        return "\n".join((*lines, f"    executes {server.executes!r}", f"    sha-256  {server.digest}"))
    lines += [f"    address  {server.url}"] if server.url else [f"    command  {shlex.join(server.argv)}"]
    lines += [f"    folder   {server.cwd}"] if server.cwd else []
    lines += [f"    gets     {', '.join(server.env_names)}"] if server.env_names else []
    lines += [f"    headers  {', '.join(server.header_names)}"] if server.header_names else []
    return "\n".join(lines)


class TerminalApprover:
    """Asks on the terminal, and refuses if there is none. With `yes`, allows everything without asking."""

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    async def ask(self, request: ApprovalRequest) -> Decision:
        if self._yes:
            return Decision.SESSION
        if not sys.stdin.isatty():
            say(f"refused {request.tool.id}: {request.why}; --yes allows such calls", err=True)
            return Decision.NO
        say(f"{request.tool.id}  {arguments_text(request.arguments)}\n  {request.why}", err=True)
        for change in request.changes:
            signed = ((sign, text) for gone, new in change.lines for sign, text in (("-", gone), ("+", new)))
            lines = [f"{sign} {text}" for sign, text in signed if text]
            say("\n    ".join((f"  {change.part}", *lines)), err=True)
        answers = click.Choice(["once", "session", "no"])
        with interruptible():
            answer = click.prompt("Call it?", type=answers, default="no", err=True)
        return Decision(answer)
