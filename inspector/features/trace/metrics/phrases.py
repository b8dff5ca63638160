"""What was searched for in vain, beside what the tool does that was called instead: a server's `phrases`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from inspector.config.format import LONGEST_PHRASE, MOST_PHRASES
from inspector.core.definition import ToolDefinition
from inspector.core.events import ServerReady, SessionStarted, ToolsChanged
from inspector.core.redaction import clean
from inspector.core.report import COUNT, Column
from inspector.core.text import first_sentence, one_line, shortened
from inspector.core.tool import server_of
from inspector.core.turns import ACTS, Turn
from inspector.search.index.vocabulary import spaced, written_words
from inspector.session.miss import MissCause, unused_in

KINDS = (*ACTS, SessionStarted.kind, ServerReady.kind, ToolsChanged.kind)
"""The kinds of events that candidates are made of."""


class Candidate(Struct, frozen=True):
    """How often what was searched for while its turn later called a tool that the search did not return.

    `meaning` is the first sentence of the tool's description, or its name where nobody knows that.
    """

    times: int
    searched: str
    tool: str
    meaning: str


COLUMNS = (
    *(Column("times", kind=COUNT), Column("server", lambda one: server_of(one.tool))),
    *(Column("searched for", "searched"), Column("called instead", "tool"), Column("meaning")),
)


def candidates(told: Iterable[Turn]) -> list[Candidate]:
    """The candidates in the turns of one or more sessions in sequence, the most frequent first."""
    said: dict[str, str] = {}
    missed: Counter[tuple[str, str]] = Counter()
    for turn in told:
        for ready in turn.of(ServerReady):
            said |= _said(ready.definitions)
        for changed in turn.of(ToolsChanged):
            said |= _said(changed.definitions)
        missed.update(_missed(turn))
    found = (
        Candidate(times, searched, tool, said.get(tool) or spaced(tool.partition(":")[2]))
        for (searched, tool), times in missed.most_common()
    )
    return [one for one in found if written_words(one.searched) != written_words(one.meaning)]


def phrases_json(found: Sequence[Candidate]) -> Mapping[str, Mapping[str, str]]:
    """The `phrases` of each server, as its entry in a configuration may have them."""
    phrases: dict[str, dict[str, str]] = {}
    for one in found:
        known = phrases.setdefault(server_of(one.tool), {})
        if len(known) < MOST_PHRASES:
            known.setdefault(one.searched, one.meaning)
    return phrases


def _said(definitions: Iterable[ToolDefinition]) -> Mapping[str, str]:
    """What tools say that they do, by id; a secret is removed before the text is cut."""
    tools = (one.tool for one in definitions if one.tool is not None)
    return {one.id: shortened(first_sentence(clean(one.description)), LONGEST_PHRASE) for one in tools}


def _missed(turn: Turn) -> Iterator[tuple[str, str]]:
    """Each search of a turn in vain, and the tool called instead: one that a later search found, or any.

    An agent's own tools are on no server.
    """
    searches = {act.record.seq: act for act in turn.searches}
    for miss in unused_in(turn):
        searched = one_line(searches[miss.seq].event.report.request.query)
        called = [tool for tool in miss.called if server_of(tool) != turn.session.agent]
        if called and 0 < len(searched) <= LONGEST_PHRASE and miss.cause is not MissCause.ENDED:
            later = {tool for seq, act in searches.items() if seq > miss.seq for tool in act.found}
            yield searched, next((tool for tool in called if tool in later), called[0])
