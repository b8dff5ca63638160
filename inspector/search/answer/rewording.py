"""A request as a model words it for `search_tools`: that finds more than the words in which people ask."""

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.error import ModelError
from inspector.core.message import ModelReply, ModelRequest, UserMessage
from inspector.core.ports import ChatModel
from inspector.core.ranking import SearchOffer, SearchRequest

_RULES_ALONE = "demo/planner"
_LONGEST, _MOST_TYPED = 300, 2_000
# In tokens; a model that reasons needs more of them than a query has.
_LONGEST_ANSWER = 600
_SYSTEM = """You find tools with search_tools. Its query is: {query}
Write the query for the user's message. Answer with the query alone; '-' if nothing is asked."""


class Rewording(Struct, frozen=True):
    """The query of a model, or "" and why there is none: then the request stays as typed."""

    asked_as: str = ""
    not_reworded: str = ""

    @property
    def line(self) -> str:
        """What is searched for, for people."""
        return f"asked as: {self.asked_as}" if self.asked_as else f"asked as typed: {self.not_reworded}"

    def of(self, request: SearchRequest) -> SearchRequest:
        """The request to search for."""
        return replace(request, query=self.asked_as or request.query)


def require_writer(model: str) -> None:
    """Raise ModelError for the stand-in that is there where no model was chosen."""
    if model == _RULES_ALONE:
        hint = "Choose a language model: --model in the terminal, ctrl+o in the app."
        raise ModelError(f"{model} follows rules and cannot write", hint=hint)


async def reword(model: ChatModel, query: str, offer: SearchOffer) -> Rewording:
    """Ask a model once how it would search. Raises ModelError if it is no language model."""
    require_writer(model.name)
    asked, reply = UserMessage(query[:_MOST_TYPED]), ModelReply("")
    system = _SYSTEM.format(query=offer.query)
    try:
        async for chunk in model.stream(ModelRequest(system, (asked,), (), _LONGEST_ANSWER)):
            reply = chunk if isinstance(chunk, ModelReply) else reply
    except ModelError as error:
        return Rewording("", f"the model failed: {error.message}")
    answer = reply.text.strip()
    if answer[:1] + answer[-1:] in ('""', "''", "``", "“”"):
        answer = answer[1:-1].strip()
    problems = {
        "the model answered nothing": not answer,
        "the model finds that nothing is asked": answer == "-",
        f"the model answered more than {_LONGEST} characters": len(answer) > _LONGEST,
        "the model's answer was cut off": reply.finish_reason == "length",
        "the model answered several lines": len(answer.splitlines()) > 1,
    }
    problem = next((told for told, is_so in problems.items() if is_so), "")
    return Rewording("" if problem else answer, problem)
