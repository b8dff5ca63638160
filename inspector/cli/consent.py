"""Consent and approval on a terminal, without the app."""

import sys

import click

from inspector.cli.run import interruptible
from inspector.cli.table import say
from inspector.config.configuration import Configuration
from inspector.config.consent import (
    ConsentCheck,
    ServerConsent,
    approve as remember,
    check_consent,
    warnings_text,
)
from inspector.core.error import ConfigError
from inspector.core.message import arguments_text
from inspector.core.ports import ApprovalRequest, Decision
from inspector.core.store_ports import ServerMemory
from widgets import visible


def require_consent(configuration: Configuration, memory: ServerMemory, *, approve: bool) -> None:
    """Ask for consent before an unknown configuration starts anything; remember it for exactly this content.

    With `approve`, files that changed since are remembered as they are now.
    Raises ConfigError without consent.
    """
    check = check_consent(configuration, memory)
    if check.is_approved and not (approve and check.changed):
        return
    if not approve and not _ask(check):
        raise ConfigError(
            f"{configuration.source} has not been approved{_since(check)}, so nothing was started",
            hint="Run the command in a terminal to see what it starts, or add --approve.",
        )
    remember(configuration, memory)


def _since(check: ConsentCheck) -> str:
    """The files because of which it asks again, if any."""
    changed = [file.path for file in check.asking]
    return f" since {', '.join(changed)} changed" if changed else ""


def _ask(check: ConsentCheck) -> bool:
    if not sys.stdin.isatty():
        return False
    servers = check.question
    verb = "start" if any(not server.named for server in servers) else "use"
    say(f"{check.configuration.source} would {verb}:", err=True)
    for server in servers:
        say(consent_text(server), err=True, exact=True)
    if warnings := warnings_text(servers):
        say(f"{warnings}.", err=True)
    with interruptible():
        return click.confirm(f"{verb.capitalize()} these?", default=False, err=True)


def consent_text(server: ServerConsent) -> str:
    """One server in the question, a fact a line: what to look at before a yes begins with `!`."""
    facts = (f"  {'!' if fact.warns else ' '} {fact.label:<8} {_line(fact.text)}" for fact in server.facts())
    return "\n".join((f"  {_line(server.name)}", *facts))


def _line(text: str) -> str:
    return visible(text, newlines=False)


class TerminalApprover:
    """Asks on the terminal, and refuses if there is none. With `yes`, allows everything without asking."""

    def __init__(self, *, yes: bool) -> None:
        self._yes = yes

    async def ask(self, request: ApprovalRequest) -> Decision:
        if self._yes:
            return Decision.SESSION
        if not sys.stdin.isatty():
            allowing = f"--trust {request.tool.server} or --yes" if request.offers_trust else "--yes"
            say(f"refused {request.tool.id}: {request.why}; {allowing} allows such calls", err=True)
            return Decision.NO
        told = f"{request.tool.id}  {arguments_text(request.arguments)}\n  {request.why}"
        say(told, err=True, exact=True)
        for change in request.changes:
            signed = ((sign, text) for gone, new in change.lines for sign, text in (("-", gone), ("+", new)))
            lines = [f"{sign} {text}" for sign, text in signed if text]
            say("\n    ".join((f"  {change.part}", *lines)), err=True)
        answers = [Decision.ONCE, Decision.SESSION, Decision.NO]
        if request.offers_trust:
            answers.insert(2, Decision.SERVER)
            say("  server: like session, but for every tool this server says is read-only", err=True)
        choices = click.Choice(list(map(str, answers)))
        with interruptible():
            answer = click.prompt("Call it?", type=choices, default="no", err=True)
        return Decision(answer)
