"""What is known about a tool, in words: the title, what its server claims, and the outcome of a call."""

import json
from collections.abc import Iterator, Mapping, Sequence

from textual.content import Content

from inspector.app.draw.line import MUTED, change_lines
from inspector.app.draw.table import ICONS, fact
from inspector.core.definition import definition_changes
from inspector.core.error import ToolsightError
from inspector.core.events import DefinitionChanged
from inspector.core.message import ToolResult
from inspector.core.number import count, milliseconds, shown_moment, tokens
from inspector.core.session import Binding, ToolState
from inspector.core.tool import Annotations, Tool, contradiction, definition
from inspector.schema.json_value import JsonObject
from widgets import middle, plain, visible

# Enough of a hash to tell definitions apart by eye.
_DIGITS = 12
_LABELS = 21
_NOT_ASKED = "runs without asking: its trusted server says it is read-only"
_CLAIMS = (
    ("read_only", "only reads", "makes changes"),
    ("destructive", "may destroy or overwrite", "does not destroy"),
    ("idempotent", "repeating a call has no further effect", "every call has an effect"),
    ("open_world", "reaches external systems", "does not reach external systems"),
)


def title(tool: Tool, state: ToolState | None, width: int) -> Content:
    """Return id and binding in one line, and below its tokens and uses."""
    if state is None:
        binding, counts = Content("not in this session"), ""
    else:
        icon, color = ICONS[state.binding]
        binding = Content.styled(f"{icon} {state.binding.value}", color)
        uses = f"used {state.uses}x" if state.uses else "not used yet"
        counts = f"\n{tokens(state.tokens)} tokens   {uses}"
    room = max(width - binding.cell_length - 3, 12)
    name = plain(middle(visible(tool.id, newlines=False), room)).stylize("bold")
    return Content.assemble(name, "   ", binding, (counts, MUTED))


def claims(annotations: Annotations) -> tuple[str, ...]:
    """Return the server's claims in words, without those it does not make."""
    known = ((getattr(annotations, name), yes, no) for name, yes, no in _CLAIMS)
    return tuple(yes if value else no for value, yes, no in known if value is not None)


def facts(
    tool: Tool, state: ToolState | None, why: str, width: int = 0, tags: Mapping[str, str] | None = None
) -> Content:
    """Return what is known about a tool in lines of `width`; what its server merely claims is labelled so.

    `why` tells why the user is asked before a call, "" if nobody is: see `why_ask`. `tags` are those of the
    tool, with where they come from.
    """
    claimed = ", ".join(claims(tool.annotations)) or "nothing about its effects"
    claimed += "   ⚠ contradicted" if contradiction(tool) else ""
    lines = [("server", tool.server), ("name on its server", tool.name)]
    lines += [("name for the model", tool.wire_name)]
    lines += [("title", tool.title)] if tool.title else []
    lines += [
        ("its server claims", claimed),
        ("returns", "structured data, with a schema" if tool.output_schema else "text"),
        ("on a model call", f"you are asked because {why}" if why else _NOT_ASKED),
    ]
    if tags:
        lines.append(("tags", ", ".join(f"#{tag} ({origin})" for tag, origin in tags.items())))
    if state is not None and state.binding is Binding.HELD:
        lines.append(("held", f"{state.server} is away; {state.held_as} again once it reconnects"))
    elif state is not None and state.reason:
        lines.append((state.binding.value, state.reason))
    return Content("\n").join(_fact(label, value, width) for label, value in lines)


def changed(
    state: ToolState | None, versions: Sequence[Tool], change: DefinitionChanged | None = None
) -> Content:
    """Return how a tool's definition differs from the one before; empty if it never changed.

    `versions` are its definitions in the session, the current one last, and `change` is what the last change
    means for a caller.
    """
    if state is None or len(versions) < 2:
        return Content("")
    changes = definition_changes(*versions[-2:])
    parts = ", ".join(change.part for change in changes) or "only parts that are not recorded"
    known = f"now {state.definition[:_DIGITS]}, {count(len(versions), 'definition')}"
    since = f"since {shown_moment(change.since)} UTC" if change and change.since else ""
    text = f"{parts}; {known} {since or 'in this session'}"
    return Content("\n").join([_fact("changed", text), *_verdict(change), *change_lines(changes)])


def _verdict(change: DefinitionChanged | None) -> Iterator[Content]:
    """What a change means for a caller: the verdict, and what speaks for it, the worst first."""
    if change is None or change.verdict == "same":
        return
    label = "wording only" if change.verdict == "words" else change.verdict
    color = "$text-error" if change.verdict == "breaking" else ""
    yield fact("for a caller", Content.styled(label, color), _LABELS, 0)
    for number, reason in enumerate(change.reasons):
        color = "$text-error" if number < change.breaking else MUTED
        yield plain(f"  {reason}", limit=300, newlines=False).stylize(color)


def _fact(label: str, value: str, width: int = 0) -> Content:
    return fact(label, plain(value, limit=300, newlines=False), _LABELS, width)


def schema_json(schema: JsonObject) -> str:
    """Return a schema as its server declares it, indented."""
    return json.dumps(schema, ensure_ascii=False, indent=2, default=str)


def exact_json(tool: Tool) -> str:
    """Return the definition as sent to the model, indented."""
    return json.dumps(definition(tool), ensure_ascii=False, indent=2, default=str)


def result_line(result: ToolResult, elapsed: float) -> Content:
    """Return whether the call succeeded according to the server, and how long it took."""
    mark = ("✕ the tool failed", "$text-error") if result.is_error else ("✓ ok", "$text-success")
    kinds = "" if result.kinds == ("text",) else f"   {', '.join(result.kinds) or 'nothing returned'}"
    return Content.assemble(mark, (f"   {milliseconds(elapsed)}", ""), (visible(kinds, limit=100), MUTED))


def failure_line(error: ToolsightError, elapsed: float) -> Content:
    """Return an error, and what to try."""
    first = Content.assemble(
        ("✕ ", "$text-error"),
        plain(error.message, limit=600).stylize("$text-error"),
        (f"   {milliseconds(elapsed)}", MUTED),
    )
    return Content.assemble(first, "\n", plain(error.hint, limit=600)) if error.hint else first
