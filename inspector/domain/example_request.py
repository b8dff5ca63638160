"""Requests to try first, made of what the tools say of themselves."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import chain, zip_longest

from inspector.domain.summary_pool import first_sentence, shortened
from inspector.domain.tool import Tool

_LONGEST = 72


def example_requests(tools: Sequence[Tool], most: int = 3) -> tuple[str, ...]:
    """The first sentences of up to `most` tools, of another server each as far as there are others.

    Tools that only read come before the others; one without a description is no example.
    """
    by_server: defaultdict[str, list[str]] = defaultdict(list)
    for tool in sorted(tools, key=lambda tool: not tool.annotations.read_only):
        sentence = first_sentence(tool.description).rstrip(".")
        if sentence:
            by_server[tool.server].append(shortened(sentence, _LONGEST))
    in_turn = chain.from_iterable(zip_longest(*by_server.values()))
    return tuple(dict.fromkeys(filter(None, in_turn)))[:most]
