"""The text of an empty conversation."""

from collections.abc import Sequence

from textual.content import Content
from textual.style import Style

from inspector.app.draw.problem import problem_lines
from inspector.app.draw.style import MUTED
from inspector.domain.number import count
from inspector.domain.server import ServerPhase
from inspector.domain.session import SessionState
from inspector.domain.setting_problem import refusal
from widgets import plain

_PROBLEMS = 4
_SEARCHES = "The model starts with search_tools and finds the other tools by searching."
_BOUND = "All tools go with every request, so there is nothing to search."


def welcome(session: SessionState, examples: Sequence[str]) -> Content:
    """Return the state of the servers, and what to try; a click on an example is `example(its place)`."""
    phases = [server.phase for server in session.servers.values()]
    connecting = phases.count(ServerPhase.CONNECTING)
    failed = phases.count(ServerPhase.FAILED)
    problems = _problems(session)
    if not phases and refusal(session.problems):
        # A server that nobody may see is not started, so there is none to wait for.
        return Content("\n").join(problems[1:])
    if not phases or connecting == len(phases):
        servers = count(len(phases), "server") if phases else "the servers"
        return Content("\n").join([Content.styled(f"Connecting to {servers} …", MUTED), *problems])
    lines = [
        Content.assemble(
            (f"{count(session.ready_servers, 'server')} ready", "bold $text-success"),
            f", {count(len(session.tools), 'tool')}"
            + (f", {connecting} still connecting" if connecting else "")
            + (f", {failed} failed (see Tools)" if failed else ""),
        ),
        *problems,
        Content(_SEARCHES if session.has_search else _BOUND) if session.tools else Content(""),
        Content(""),
    ]
    if examples:
        lines.append(Content.styled("Type a request. ↑ recalls an example, or click one:", MUTED))
        lines += [_example(place, text) for place, text in enumerate(examples)]
    return Content("\n").join(lines)


def _example(place: int, text: str) -> Content:
    click = Style.from_meta({"@click": f"screen.example({place})"})
    return Content.assemble(("  › ", "bold $accent"), plain(text, newlines=False).stylize(click))


def _problems(session: SessionState) -> list[Content]:
    """Return what is wrong with the settings, set apart from the rest."""
    if not session.problems:
        return []
    says = refusal(session.problems)
    what = "Messages get no answer until the settings are fixed" if says else "Setting problems"
    lead = Content.assemble((f"{what} (ctrl+o):", "bold" if says else ""))
    return [Content(""), lead, *problem_lines(session.problems, _PROBLEMS), Content("")]
