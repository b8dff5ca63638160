"""What past requests and past use added to a tool's score, as text."""

from inspector.cli.render import say
from inspector.domain.number import count
from inspector.domain.ranking import Hit, Signal


def say_past(hit: Hit) -> None:
    """The past request that counted for a tool, and its past use."""
    for part in hit.score.parts:
        if part.signal is Signal.HISTORY:
            asked = count(round(part.inputs["past requests"]), "past request")
            say(f"{hit.tool_id}   {part.term}   cosine {part.inputs['cosine']:.2f}   {asked}")
        elif part.signal is Signal.AFFINITY:
            say(f"{hit.tool_id}   {part.term}   prior {part.inputs['prior']:.2f}")
