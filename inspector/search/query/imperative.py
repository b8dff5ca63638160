"""The verbs that a step begins with, and where a sentence asks for one thing more."""

import re
from collections.abc import Iterator

from inspector.search.vocabulary import VERBS

STEP_VERBS = VERBS | frozenset(
    re.findall(
        r"\w+",
        """
        answer arrange ask attach begin book bring change check choose cut drop email ensure fill
        fix give hand install keep leave let log look mail make mark message note order pay pick
        print prepare put remind report return select show shut sort store switch take tell text
        turn use wait zip
        """,
    )
)
# “… and send …”, “…, then send …”: a step of its own if a verb follows.
_AND = re.compile(
    r",?\s+(?:and(?:\s+(?:then|also|finally|please))?|then|also|after\s+that,?|finally)\s+(?=([a-z]+))|,\s+(?=([a-z]+)\b)",
    re.IGNORECASE,
)


def further_steps(sentence: str) -> Iterator[re.Match[str]]:
    """What joins a further step to the one before it: all up to its verb."""
    return (match for match in _AND.finditer(sentence) if (match[1] or match[2]).lower() in STEP_VERBS)
