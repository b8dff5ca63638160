"""Questions on a terminal, without the app: consent, approval, and what servers ask."""

import sys
from typing import Any

import click

from inspector.cli.run import interruptible
from inspector.cli.table import say
from inspector.config.configuration import Configuration
from inspector.config.consent import (
    ConsentCheck,
    ServerConsent,
    approve as remember,
    check_consent,
    purpose,
    warnings_text,
)
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events.call import Decision
from inspector.core.message import arguments_text
from inspector.core.ports import ApprovalRequest, ServerMemory
from inspector.core.tool import Tool
from inspector.mcp.elicitation import (
    CANCELLED,
    DECLINED,
    LONGEST_ADDRESS,
    LONGEST_MESSAGE,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormField,
    FormRequest,
    LinkRequest,
    address,
    form_fields,
    form_warnings,
    impersonation,
)
from inspector.mcp.sampling import ANSWER, LONGEST_PROMPT, SamplingRequest, sampling_note
from inspector.schema.json_value import JsonObject
from widgets import visible
from widgets.typed_value import InvalidValue, Kind, parse


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
    changed = dict.fromkeys(file.path for file in check.asking)
    return f" since {', '.join(changed)} changed" if changed else ""


def _ask(check: ConsentCheck) -> bool:
    if not sys.stdin.isatty():
        return False
    servers = check.question
    say(f"{check.configuration.source} would {purpose(servers)}:", err=True)
    for server in servers:
        say(consent_text(server), err=True, exact=True)
    if warnings := warnings_text(servers):
        say(f"{warnings}.", err=True)
    with interruptible():
        return click.confirm("Allow this configuration?", default=False, err=True)


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


def confirm_call(tool: Tool, arguments: JsonObject, why: str) -> None:
    """Ask once about a call that a person has typed. Raises ToolsightError if it is not to be made."""
    if not sys.stdin.isatty():
        hint = "Run the command in a terminal to be asked, or add --yes."
        raise ToolsightError(f"{tool.id} was not called: {why}", hint=hint)
    say(f"{tool.id}  {arguments_text(arguments)}\n  {why}", err=True, exact=True)
    with interruptible():
        if not click.confirm("Call it?", default=False, err=True):
            raise ToolsightError(f"{tool.id} was not called")


_TRUTHS = {"true": True, "yes": True, "y": True, "false": False, "no": False, "n": False}
_TYPED: dict[str, Kind] = {"integer": "integer", "number": "number"}
_LATER = "later"


class TerminalElicitor:
    """An `Elicitor` that asks on the terminal, and declines if there is none."""

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        """See `Elicitor`."""
        wants, server = request.wants, _short(request.server)
        if not sys.stdin.isatty():
            say(f"declined: the server {server} asks you to {wants}, but there is no terminal", err=True)
            return ElicitationAnswer(Action.DECLINE, why="there is no terminal")
        say(f"The server {server} asks you to {wants}:", err=True)
        limit = LONGEST_PROMPT if isinstance(request, SamplingRequest) else LONGEST_MESSAGE
        say(f"  {visible(request.message, limit=limit)}", err=True)
        with interruptible():
            if isinstance(request, SamplingRequest):
                return _sampled(request)
            return _filled_in(request) if isinstance(request, FormRequest) else _visited(request)


def _filled_in(request: FormRequest) -> ElicitationAnswer:
    fields = form_fields(request.schema)
    names = ", ".join(_short(field.title or field.name) for field in fields)
    say(f"  It asks for: {names or 'nothing'}. Do not enter passwords, keys or tokens.", err=True)
    for warning in form_warnings(request, fields):
        say(f"  ! {_short(warning)}", err=True)
    refusal = _refusal("fill in")
    if refusal is not None:
        return refusal
    given = ((field.name, _asked(field)) for field in fields)
    return ElicitationAnswer(Action.ACCEPT, {name: value for name, value in given if value is not None})


def _sampled(request: SamplingRequest) -> ElicitationAnswer:
    say(f"  {sampling_note(request)}", err=True)
    for warning in form_warnings(request, ()):
        say(f"  ! {_short(warning)}", err=True)
    who = ["answer", "model", "decline"] if request.model else ["answer", "decline"]
    if request.model:
        say(f"  model: {_short(request.model)} answers", err=True)
    chosen = click.prompt("What now?", type=click.Choice(who), default="decline", err=True)
    if chosen == "answer":
        return ElicitationAnswer(Action.ACCEPT, {ANSWER: click.prompt("  Your answer", err=True)})
    return ElicitationAnswer(Action.ACCEPT) if chosen == "model" else DECLINED


def _visited(request: LinkRequest) -> ElicitationAnswer:
    parts = address(request.url)
    shown = visible(request.url, limit=LONGEST_ADDRESS, newlines=False)
    say(f"{shown}\n  host: {visible(parts.host, newlines=False) or 'none'}", err=True, exact=True)
    said = impersonation(f"the server {request.server}", request.message)
    for warning in filter(None, (said, *parts.warnings)):
        say(f"  ! {_short(warning)}", err=True)
    if not parts.opens:
        return ElicitationAnswer(Action.DECLINE, why=", ".join(parts.warnings))
    refusal = _refusal("visit")
    if refusal is None:
        say("  Open the link yourself; Toolsight does not open it.", err=True)
    return refusal or ElicitationAnswer(Action.ACCEPT)


def _refusal(verb: str) -> ElicitationAnswer | None:
    """Ask what to do; None to do it."""
    choices = click.Choice([verb, "decline", _LATER])
    answer = click.prompt("What now?", type=choices, default=_LATER, err=True)
    return {"decline": DECLINED, _LATER: CANCELLED}.get(answer)


def _asked(field: FormField) -> Any:
    """Ask for one value until it is one; None for none."""
    for line in _about(field):
        say(f"    {line}", err=True)
    shown = "" if field.default is None else _default(field)
    while True:
        text = click.prompt(
            f"  {_short(field.title or field.name)}",
            default=shown,
            show_default=bool(shown),
            hide_input=field.is_secret,
            err=True,
        )
        if text == shown and field.default is not None:
            return field.default
        if not text.strip() and not field.required:
            return None
        try:
            return _value(field, text)
        except InvalidValue as error:
            say(f"  {error}", err=True)


def _about(field: FormField) -> list[str]:
    lines = [_short(field.description)] if field.description else []
    lines += [
        f"{_short(value)}  {_short(title) if title != value else ''}".rstrip()
        for value, title in field.options
    ]
    if field.is_secret:
        lines.append("! this looks like a secret, which a form must never ask for; leave it empty")
    if field.kind == "choices":
        lines.append("separate several with commas")
    return lines


def _value(field: FormField, text: str) -> Any:
    """The typed value. Raises InvalidValue."""
    value = _read(field, text)
    wrong = field.problem(value)
    if field.required and value in ("", []):
        wrong = "a value is required"
    if wrong:
        raise InvalidValue(wrong)
    return value


def _read(field: FormField, text: str) -> Any:
    known = [value for value, _ in field.options]
    if field.kind == "choices":
        chosen = [part.strip() for part in text.split(",") if part.strip()]
        if unknown := [part for part in chosen if part not in known]:
            raise InvalidValue(f"not one of the choices: {_short(unknown[0])}")
        return chosen
    if field.kind == "choice" and text not in known:
        raise InvalidValue("not one of the choices")
    if field.kind == "boolean":
        if text.strip().casefold() not in _TRUTHS:
            raise InvalidValue("enter true or false")
        return _TRUTHS[text.strip().casefold()]
    return parse(_TYPED.get(field.kind, "string"), text)


def _default(field: FormField) -> str:
    value = field.default
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    return str(value).lower() if isinstance(value, bool) else _short(str(value))


def _short(text: str) -> str:
    return visible(text, limit=300, newlines=False)
