"""The text of an empty conversation."""

from textual.content import Content

from inspector.app.draw.problem import problem_lines
from inspector.app.draw.style import MUTED
from inspector.domain.number import count
from inspector.domain.server import ServerPhase
from inspector.domain.session import SessionState
from inspector.domain.setting_problem import refusal

_PROBLEMS = 4
EXAMPLES = (
    "Which orders shipped late? Mail the list to sales@example.com.",
    "Is there severe weather in Singapore? Lock the garage.",
    "What is 6 times 7?",
)


def welcome(session: SessionState) -> Content:
    """Return the state of the servers, and what to try."""
    phases = [server.phase for server in session.servers.values()]
    connecting = phases.count(ServerPhase.CONNECTING)
    failed = phases.count(ServerPhase.FAILED)
    problems = _problems(session)
    if not phases or connecting == len(phases):
        servers = count(len(phases), "server") if phases else "the servers"
        return Content("\n").join([Content.styled(f"Connecting to {servers} …", MUTED), *problems])
    lines = [
        Content.assemble(
            (f"{count(session.ready_servers, 'server')} ready", "bold $text-success"),
            f", {count(len(session.tools), 'tool')}"
            + (f", {connecting} still connecting" if connecting else "")
            + (f", {failed} failed (f2 says why)" if failed else ""),
        ),
        *problems,
        Content("The model starts with search_tools and finds the other tools by searching."),
        Content(""),
        Content.styled("Type a request, or press alt and a number for an example:", MUTED),
    ]
    lines += [
        Content.assemble((f"  {n}  ", "bold $accent"), text) for n, text in enumerate(EXAMPLES, start=1)
    ]
    return Content("\n").join(lines)


def _problems(session: SessionState) -> list[Content]:
    """Return what is wrong with the settings, set apart from the rest."""
    if not session.problems:
        return []
    says = refusal(session.problems)
    what = "No message is answered until the settings are put right" if says else "Problems of the settings"
    lead = Content.assemble((f"{what} (ctrl+g):", "bold" if says else ""))
    return [Content(""), lead, *problem_lines(session.problems, _PROBLEMS), Content("")]
