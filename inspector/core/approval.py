"""The questions before a call: may the model make it, may a person's own be made, is its server believed."""

from inspector.core.definition import shown_changes
from inspector.core.ports import ApprovalRequest, Decision
from inspector.core.question import YES, Diff, Option, Question, cut
from inspector.core.report import Fact, Facts
from inspector.core.tool import Tool
from inspector.schema.json_value import JsonObject, compact

_LONGEST_VALUE, _LONGEST_NAME = 2_000, 60
_NO = Option(Decision.NO, "no")
_YES = Option(YES, "trust its claims"), _NO
_DECISIONS = Option(Decision.SESSION, "this session"), Option(Decision.ONCE, "once"), _NO


def approval_question(request: ApprovalRequest) -> Question:
    """The question about a call of the model's: why, every argument, and what changed in the definition."""
    offered = (Option(Decision.SERVER, "trust its claims"),) if request.offers_trust else ()
    return _call_question(request, (*offered, *_DECISIONS))


def call_question(tool: Tool, arguments: JsonObject, why: str, key: str = "") -> Question:
    """The question about a call that a person has typed; `key` is the one that asked for it."""
    return _call_question(ApprovalRequest(tool, arguments, why), (Option(YES, "call it", key), _NO))


def _call_question(request: ApprovalRequest, options: tuple[Option, ...]) -> Question:
    why = Facts((Fact("", f"{request.why[:1].upper()}{request.why[1:]}.", warns=True),))
    given = ((name, one if isinstance(one, str) else compact(one)) for name, one in request.arguments.items())
    arguments = tuple(Fact(name, cut(text, _LONGEST_VALUE)) for name, text in given)
    blocks: list[str | Facts | Diff] = [why, Facts(arguments) if arguments else "no arguments"]
    if request.offers_trust:
        blocks.append(_trusting(request.tool.server))
    if request.changes:
        blocks += ["Changed since you were last asked", *shown_changes(request.changes)]
    return Question(f"Call {request.tool.id}?", tuple(blocks), options)


def trust_question(server: str) -> Question:
    """Whether what a server claims about its tools is believed from now on."""
    return Question(f"Trust the claims of {cut(server, _LONGEST_NAME)}?", (_trusting(server),), _YES)


def _trusting(server: str) -> str:
    return (
        "Toolsight cannot verify the claim. For the rest of this session, “trust its claims” runs any tool "
        f"that {cut(server, _LONGEST_NAME)} marks as read-only without asking."
    )
