"""What a person reads of a server's question: a form, an address, a prompt for a model, a sign-in."""

from collections.abc import Sequence
from typing import Final

from inspector.core.question import Address, Option, Question, cut
from inspector.core.report import Fact, Facts
from inspector.mcp.elicitation import (
    CANCELLED,
    DECLINED,
    LONGEST_MESSAGE,
    Action,
    ElicitationAnswer,
    ElicitationRequest,
    FormRequest,
    LinkRequest,
    address,
    form_fields,
    form_warnings,
    impersonation,
)
from inspector.mcp.sampling import LONGEST_PROMPT, SamplingRequest, sampling_note

FILL_IN: Final = "fill in"
DECLINE, LATER = Option("decline", "decline"), Option("later", "not now")
ANSWERS: Final = {
    DECLINE.value: DECLINED,
    LATER.value: CANCELLED,
    "model": ElicitationAnswer(Action.ACCEPT),
}
"""What an option says to the server; any other one needs values, or an address to be visited."""
_NO_SECRETS = "Your answers go to the server unchanged. Never enter passwords, keys or tokens."
_OPENS_NOTHING = (
    "The link opens only if you choose to. What you enter there goes to its host, not through Toolsight."
)
_LONGEST_NAME, _LONGEST_MODEL = 60, 80


def server_question(request: ElicitationRequest, visits: Sequence[Option] = ()) -> Question:
    """What a server asks; `visits` are the ways to go to the address of a link."""
    if isinstance(request, SamplingRequest):
        return _sampling_question(request)
    return _form_question(request) if isinstance(request, FormRequest) else _link_question(request, visits)


def sign_in_question(server: str, where: str, visits: Sequence[Option] = ()) -> Question:
    """Whether the address of a sign-in may open."""
    name = cut(server, _LONGEST_NAME)
    request = LinkRequest(server, f"{name} wants you to sign in at this address.", where)
    blocks = _link_blocks(request)
    return Question(f"Sign in to {name}", blocks, (*visits, LATER), is_exact=True)


def _title(request: ElicitationRequest) -> str:
    return f"The server {cut(request.server, _LONGEST_NAME)} asks you to {request.wants}"


def _said(message: str, limit: int = LONGEST_MESSAGE) -> Fact:
    return Fact("says", cut(message, limit)) if message.strip() else Fact("", "The server gave no reason.")


def _warnings(*texts: str) -> tuple[Fact, ...]:
    return tuple(Fact("", text, warns=True) for text in texts if text)


def _form_question(request: FormRequest) -> Question:
    warned = _warnings(*form_warnings(request, form_fields(request.schema)))
    blocks = (Facts((_said(request.message), *warned)), _NO_SECRETS)
    return Question(_title(request), blocks, (Option(FILL_IN, "send"), DECLINE, LATER))


def _sampling_question(request: SamplingRequest) -> Question:
    """The note stands above the prompt, which may be long."""
    facts = (*_warnings(*form_warnings(request, ())), _said(request.message, LONGEST_PROMPT))
    model = (Option("model", f"let {cut(request.model, _LONGEST_MODEL)} answer"),) if request.model else ()
    blocks = (sampling_note(request), Facts(facts))
    return Question(_title(request), blocks, (Option("answer", "send"), *model, DECLINE))


def _link_question(request: LinkRequest, visits: Sequence[Option]) -> Question:
    ways = tuple(visits) if address(request.url).opens else ()
    return Question(_title(request), _link_blocks(request), (*ways, DECLINE, LATER), is_exact=True)


def _link_blocks(request: LinkRequest) -> tuple[Facts | str, ...]:
    """What the server says, the whole address, and what to look at in both."""
    parts = address(request.url)
    start = len(parts.before)
    whole = Address("", request.url, start=start, end=start + len(parts.host))
    host = (Fact("host", parts.host),) if parts.host else ()
    warned = _warnings(impersonation(f"the server {request.server}", request.message), *parts.warnings)
    return Facts((_said(request.message),)), Facts((whole, *host, *warned)), _OPENS_NOTHING
