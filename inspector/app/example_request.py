"""Requests to try first, made of what the tools say of themselves."""

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest

from inspector.core.text import first_sentence, shortened
from inspector.core.tool import Tool

_LONGEST = 72


def example_requests(tools: Sequence[Tool], most: int = 3) -> tuple[str, ...]:
    """The first sentences of up to `most` tools, of another server each as far as there are others.

    Tools that only read come before the others; one without a description is no example.
    """
    examples: dict[str, None] = {}
    for example in _in_turn(sorted(tools, key=lambda tool: not tool.annotations.read_only)):
        examples[example] = None
        if len(examples) >= most:
            break
    return tuple(examples)[:most]


def _in_turn(tools: Sequence[Tool]) -> Iterator[str]:
    """The first request of each server, in the order of the tools; then their second ones, and so on."""
    rest: dict[str, list[Tool]] = {}
    for tool in tools:
        if tool.server in rest:
            rest[tool.server].append(tool)
        elif request := _request(tool):
            rest[tool.server] = []
            yield request
    others = (filter(None, map(_request, more)) for more in rest.values())
    yield from filter(None, chain.from_iterable(zip_longest(*others)))


def _request(tool: Tool) -> str:
    """The first sentence of a tool's description; "" if it has none."""
    sentence = first_sentence(tool.description).rstrip(".")
    return shortened(sentence, _LONGEST) if sentence else ""
