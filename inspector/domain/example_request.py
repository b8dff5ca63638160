"""Requests to try first, made of what the tools say of themselves."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from inspector.domain.summary_pool import first_sentence, shortened
from inspector.domain.tool import Tool

_LONGEST = 72


def example_requests(tools: Sequence[Tool], most: int = 3) -> tuple[str, ...]:
    """The first sentences of up to `most` tools, of another server each as far as there are others.

    Tools that only read come before the others; one without a description is no example.
    """
    by_server: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in sorted(tools, key=lambda tool: not tool.annotations.read_only):
        by_server[tool.server].append(tool)
    in_turn = chain.from_iterable(zip_longest(*map(_requests, by_server.values())))
    examples: dict[str, None] = {}
    for example in filter(None, in_turn):
        if len(examples) == most:
            break
        examples[example] = None
    return tuple(examples)


def _requests(tools: Sequence[Tool]) -> Iterator[str]:
    sentences = (first_sentence(tool.description).rstrip(".") for tool in tools)
    return (shortened(sentence, _LONGEST) for sentence in sentences if sentence)
