"""What a person is asked about a server: what it wants to know itself, and what comes before a call.

It may ask with a form, an address, a sign-in, or a prompt and who answers that. Before a call the question is
whether the model may make it, whether a person's own is made, or whether the server is believed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from msgspec import Struct

from inspector.core.definition import shown_changes
from inspector.core.error import ModelError
from inspector.core.message import AssistantMessage, Message, ModelReply, ModelRequest, UserMessage
from inspector.core.number import byte_size, count
from inspector.core.ports import ApprovalRequest, ChatModel, Decision
from inspector.core.report import YES, Address, Diff, Fact, Facts, Option, Question, cut
from inspector.core.tool import Tool
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
from inspector.schema.json_value import JsonObject, compact

LONGEST_PROMPT: Final = 100_000
"""Characters of a prompt that are shown: a person agrees to nothing that is not seen whole."""
ANSWER: Final = "answer"
BY: Final = "by"
"""Who answered in place of a model, in the content of an answer that is whole."""
PERSON: Final = "a person"
NO_TOOLS: Final = "Toolsight does not answer with tools"
TOO_LONG: Final = f"the prompt is longer than {LONGEST_PROMPT:,} characters, too long to show in full"
_FIELDS = {"properties": {ANSWER: {"type": "string", "title": "your answer"}}, "required": [ANSWER]}


class SamplingRequest(FormRequest, frozen=True):
    """A form for the answer; `message` is the whole prompt. `max_tokens` is what the server wants at most.

    `refusal` says why nobody is asked, if so. `model` is the label of the model that would answer after a
    yes, "" if none can; `tokens` are those of the prompt, as counted for it.
    """

    wants: ClassVar[str] = "answer in place of a model"
    messages: tuple[Message, ...] = ()
    system: str = ""
    max_tokens: int = 0
    has_media: bool = False
    refusal: str = ""
    model: str = ""
    tokens: int = 0


def sampling_request(server: str, params: Mapping[str, Any], *, is_excess: bool) -> SamplingRequest:
    """Read the parameters of a request, as the protocol writes them."""
    system, texts, messages, has_media = params.get("systemPrompt") or "", [], list[Message](), False
    for one in params.get("messages", ()):
        content = one["content"] if isinstance(one["content"], list) else [one["content"]]
        text = "\n".join(_texts(content))
        has_media = has_media or any(block.get("type") != "text" for block in content)
        messages.append(UserMessage(text) if one["role"] == "user" else AssistantMessage(text))
        texts.append(f"{one['role']}: {text}")
    prompt = "\n\n".join([f"system: {system}", *texts] if system else texts)
    refusal = NO_TOOLS if params.get("tools") else TOO_LONG if len(prompt) > LONGEST_PROMPT else ""
    return SamplingRequest(
        server, prompt, _FIELDS, is_excess, tuple(messages), system, params["maxTokens"], has_media, refusal
    )


def _texts(content: list[dict[str, Any]]) -> Iterator[str]:
    """The texts of a message; what is no text is named with its size."""
    for block in content:
        size = len(block.get("data", "")) * 3 // 4
        about = [str(block.get(part, ""))[:80] for part in ("type", "mimeType")]
        about += [byte_size(size)] if size else []
        yield block["text"] if block.get("type") == "text" else f"[{' '.join(filter(None, about))}]"


def sampling_note(request: SamplingRequest) -> str:
    """How much a model would read and may answer, and what it does not get."""
    media = " No model is offered: it would not get what is in brackets." if request.has_media else ""
    size = f"{count(request.tokens, 'token')}; it wants at most {request.max_tokens:,} back."
    return f"{size} Nothing is sent until you choose.{media}"


class Sampler(Struct, frozen=True):
    """The session's model, what counts its tokens, and the most tokens that an answer of it may have."""

    model: ChatModel
    count: Callable[[str], int]
    most: int

    def by_person(self, request: SamplingRequest, text: str) -> ElicitationAnswer:
        """What a person answered."""
        return accepted(text, PERSON, request.tokens, self.count(text))

    async def by_model(self, request: SamplingRequest) -> ElicitationAnswer:
        """The model's answer, in one call without tools; a decline with its reason if it fails."""
        most = max(min(request.max_tokens, self.most), 1)
        reply = ModelReply("")
        try:
            async for chunk in self.model.stream(ModelRequest(request.system, request.messages, (), most)):
                reply = chunk if isinstance(chunk, ModelReply) else reply
        except ModelError as error:
            return ElicitationAnswer(Action.DECLINE, why=f"{self.model.label}: {error.message}")
        read, written = reply.usage.input_tokens, reply.usage.output_tokens
        return accepted(
            reply.text,
            self.model.label,
            request.tokens if read is None else read,
            self.count(reply.text) if written is None else written,
            "maxTokens" if reply.finish_reason == "length" else "endTurn",
        )


def accepted(text: str, by: str, read: int, written: int, stop: str = "endTurn") -> ElicitationAnswer:
    """The whole answer of `by`, with the tokens that it read and wrote, and why it stopped."""
    content = {"text": text, BY: by, "input_tokens": read, "output_tokens": written, "stop": stop}
    return ElicitationAnswer(Action.ACCEPT, content)


FILL_IN: Final = "fill in"
DECLINE, LATER = Option("decline", "decline"), Option("later", "not now")
ANSWERS: Final = {DECLINE.value: DECLINED, LATER.value: CANCELLED, "model": ElicitationAnswer(Action.ACCEPT)}
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


_LONGEST_VALUE = 2_000
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
