"""Questions on a terminal, without the app: consent, approval, and what servers ask."""

import sys
from math import isfinite
from typing import Any

import click

from inspector.cli.run import interruptible, written
from inspector.cli.table import say
from inspector.config.configuration import Configuration
from inspector.config.consent import ConsentCheck, approve as remember, check_consent, consent_question
from inspector.core.error import ConfigError, ToolsightError
from inspector.core.events.call import Decision
from inspector.core.ports import ApprovalRequest, ServerMemory
from inspector.core.redaction import clean
from inspector.core.report import YES, Address, Diff, Fact, Option, Question
from inspector.core.tool import Tool
from inspector.mcp.elicitation import (
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormField,
    LinkRequest,
    address,
    form_fields,
)
from inspector.mcp.question import (
    ANSWER,
    ANSWERS,
    SamplingRequest,
    approval_question,
    call_question,
    server_question,
)
from inspector.schema.json_value import JsonObject
from widgets import visible

_LONGEST = 200_000
_VISIT = Option("visit", "open the link yourself")


def require_consent(configuration: Configuration, memory: ServerMemory, *, approve: bool) -> None:
    """Ask for consent before an unknown configuration starts anything; remember it for exactly this content.

    With `approve`, files that changed since are remembered as they are now.
    Raises ConfigError without consent.
    """
    check = check_consent(configuration, memory)
    if check.is_approved and not (approve and check.changed):
        return
    if not approve and not _agrees(consent_question(str(configuration.source), check.question)):
        raise ConfigError(
            f"{configuration.source} has not been approved{_since(check)}, so nothing was started",
            hint="Run the command in a terminal to see what it starts, or add --approve.",
        )
    remember(configuration, memory)


def _agrees(question: Question) -> bool:
    return sys.stdin.isatty() and answer_to(question) != question.refusal


def _since(check: ConsentCheck) -> str:
    """The files because of which it asks again, if any."""
    changed = dict.fromkeys(file.path for file in check.asking)
    return f" since {', '.join(changed)} changed" if changed else ""


def say_question(question: Question) -> None:
    """Print what to know before an answer: what to look at begins with `!`, an address has its own line."""
    _say(question, _line(question.title))
    for block in question.blocks:
        if isinstance(block, str):
            _say(question, f"  {_line(block)}")
            continue
        if block.title:
            _say(question, f"  {_line(block.title)}")
        if isinstance(block, Diff):
            _say(question, *(f"    {_line(line)}" for line in block.lines))
        else:
            _say(question, *(_fact_line(fact, question.label_width) for fact in block.facts))


def _say(question: Question, *lines: str) -> None:
    """Print lines whole, however long they are: nobody is asked about what is not shown."""
    with written(err=True):
        for line in lines:
            shown = line if question.is_exact else clean(line)
            click.echo(visible(shown, limit=_LONGEST, exact=question.is_exact), err=True)


def _fact_line(fact: Fact, width: int) -> str:
    """A fact behind its label; further lines of it stand below its first, so that none is faked."""
    if isinstance(fact, Address):
        return _line(fact.text)
    head = f"  {'!' if fact.warns else ' '} "
    head += f"{_line(fact.label):<{width}} " if fact.label else ""
    return f"\n{' ' * len(head)}".join(f"{head}{fact.text.expandtabs(4)}".split("\n"))


def answer_to(question: Question) -> str:
    """Ask on the terminal; return the value of an option, by default of the one that changes nothing."""
    options = question.options
    with interruptible():
        say_question(question)
        if options[0].value == YES:
            label = options[0].label
            agreed = click.confirm(f"{label[:1].upper()}{label[1:]}?", default=False, err=True)
            return YES if agreed else question.refusal
        for option in options:
            if option.label != option.value:
                say(f"  {option.value}: {option.label}", err=True)
        # Of an enum click would take the names.
        values = click.Choice([str(option.value) for option in options])
        return str(click.prompt("What now?", type=values, default=str(question.refusal), err=True))


def _line(text: str) -> str:
    return visible(text, newlines=False, limit=_LONGEST, exact=True)


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
        return Decision(answer_to(approval_question(request)))


def confirm_call(tool: Tool, arguments: JsonObject, why: str) -> None:
    """Ask once about a call that a person has typed. Raises ToolsightError if it is not to be made."""
    if not sys.stdin.isatty():
        hint = "Run the command in a terminal to be asked, or add --yes."
        raise ToolsightError(f"{tool.id} was not called: {why}", hint=hint)
    question = call_question(tool, arguments, why)
    if answer_to(question) == question.refusal:
        raise ToolsightError(f"{tool.id} was not called")


class TerminalElicitor:
    """An `Elicitor` that asks on the terminal, and declines if there is none."""

    async def ask(self, request: ElicitationRequest) -> ElicitationAnswer:
        """See `Elicitor`."""
        if not sys.stdin.isatty():
            told = f"declined: the server {_short(request.server)} asks you to {request.wants}"
            say(f"{told}, but there is no terminal", err=True)
            return ElicitationAnswer(Action.DECLINE, why="there is no terminal")
        question = server_question(request, (_VISIT,))
        if isinstance(request, LinkRequest) and not (parts := address(request.url)).opens:
            say_question(question)
            return ElicitationAnswer(Action.DECLINE, why=", ".join(parts.warnings))
        answer = answer_to(question)
        if answer in ANSWERS:
            return ANSWERS[answer]
        if isinstance(request, LinkRequest):
            say("  Open the link yourself; Toolsight does not open it.", err=True)
            return ElicitationAnswer(Action.ACCEPT)
        with interruptible():
            if isinstance(request, SamplingRequest):
                return ElicitationAnswer(Action.ACCEPT, {ANSWER: click.prompt("  Your answer", err=True)})
            given = ((field.name, _asked(field)) for field in form_fields(request.schema))
            return ElicitationAnswer(Action.ACCEPT, {name: one for name, one in given if one is not None})


def _asked(field: FormField) -> Any:
    """Ask for one value until it is one; None for none."""
    for line in _about(field):
        say(f"    {line}", err=True)
    shown = "" if field.default is None else _default(field)

    def read(text: str) -> Any:
        if text == shown and field.default is not None:
            return field.default
        if not text.strip() and not field.required:
            return None
        value = _read(field, text)
        wrong = "a value is required" if value in ("", []) and field.required else field.problem(value)
        if wrong:
            raise click.BadParameter(_short(wrong))
        return value

    return click.prompt(
        f"  {_short(field.title or field.name)}",
        default=shown,
        show_default=bool(shown),
        hide_input=field.is_secret,
        value_proc=read,
        err=True,
    )


_TYPES: dict[str, click.ParamType[Any]] = {"integer": click.INT, "number": click.FLOAT, "boolean": click.BOOL}


def _read(field: FormField, text: str) -> Any:
    """The typed value. Raises BadParameter."""
    if field.kind == "choices":
        return [part.strip() for part in text.split(",") if part.strip()]
    value = _TYPES[field.kind].convert(text.strip(), None, None) if field.kind in _TYPES else text
    if isinstance(value, float) and not isfinite(value):
        raise click.BadParameter("JSON does not allow Infinity or NaN")
    return value


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


def _default(field: FormField) -> str:
    value = field.default
    if isinstance(value, list):
        return ", ".join(map(_short, value))
    return str(value).lower() if isinstance(value, bool) else _short(str(value))


def _short(text: str) -> str:
    return visible(text, limit=300, newlines=False)
