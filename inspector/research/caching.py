"""What a prompt cache does for each layout over a session (Tool Attention, section 5.6).

A request is a list of blocks in the order in which providers read them: tool definitions, system prompt,
messages. A session is one long task: every turn adds the same number of tokens to the conversation.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from inspector.core.prompt_cache import Block, CacheTerms, PromptCache
from inspector.research.discovery import Discovery
from inspector.research.task import Task, Turn

SECONDS_BETWEEN = 20.0
TURN_TOKENS = 500
_SAID_TOKENS = 50
_RESULT_TOKENS = 200
Blocks = list[Block]
_FIRST: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Layout:
    """The totals of a session's requests. `billed` is in input tokens at full price."""

    name: str
    requests: int
    tokens: int
    read: int
    billed: float

    @property
    def hit_rate(self) -> float:
        """The share of all input tokens that came from the cache."""
        return self.read / self.tokens if self.tokens else 0.0


@dataclass(frozen=True, slots=True)
class Session:
    """What layouts are made of: each definition's tokens by tool, the system prompt and the pool."""

    tokens: Mapping[str, int]
    system: int
    pool: int
    turns: Sequence[Turn]

    def definitions(self, tool_ids: Iterable[str], versions: Mapping[str, int] = _FIRST) -> Blocks:
        """One block per definition; `versions` names those that have changed."""
        return [
            Block(f"{tool_id}#{versions.get(tool_id, 0)}", self.tokens[tool_id], "tools")
            for tool_id in tool_ids
        ]

    def prompt(self, *, pool: bool) -> Blocks:
        blocks = [Block("system", self.system, "system")]
        return [*blocks, Block("pool", self.pool, "pool")] if pool else blocks

    def before(self, turn: int) -> Blocks:
        """The conversation before turn `turn`: user messages, tool results and answers."""
        return [block for earlier in range(turn) for block in (*self.within(earlier), self.answer(earlier))]

    def within(self, turn: int) -> Blocks:
        """The turn's user message, and what each step returned."""
        results = [Block(f"{turn} result {n}", _RESULT_TOKENS, "history") for n in range(self.steps(turn))]
        return [Block(f"{turn} {self.turns[turn].text}", _SAID_TOKENS, "history"), *results]

    def answer(self, turn: int) -> Block:
        """The turn's answer, which has the rest of its tokens."""
        rest = TURN_TOKENS - _SAID_TOKENS - _RESULT_TOKENS * self.steps(turn)
        return Block(f"{turn} answer", max(rest, 0), "history")

    def steps(self, turn: int) -> int:
        return len(self.turns[turn].steps)

    def requests(self, turn: int, head: Blocks) -> Iterable[Blocks]:
        """A turn's requests: one per step, and one for the answer. `head` comes before the user message."""
        said = self.within(turn)
        for shown in range(1, len(said) + 1):
            yield [*head, *said[:shown]]


def measured(name: str, requests: Iterable[Blocks], terms: CacheTerms | None = None) -> Layout:
    """Send the requests in order through an empty cache."""
    terms = terms or CacheTerms()
    cache, charges = PromptCache(terms), []
    for number, blocks in enumerate(requests):
        charges.append(cache.send(blocks, number * SECONDS_BETWEEN))
    return Layout(
        name,
        len(charges),
        sum(charge.tokens for charge in charges),
        sum(charge.read for charge in charges),
        sum(charge.billed(terms) for charge in charges),
    )


def full_schema(session: Session, changing: Callable[[int], str] | None = None) -> Iterable[Blocks]:
    """Requests with all definitions; `changing` names the one that changes in a turn."""
    changed = dict[str, int]()
    for turn in range(len(session.turns)):
        if changing is not None and turn:
            changed[changing(turn)] = turn
        tools = session.definitions(session.tokens, changed)
        yield from session.requests(turn, [*tools, *session.prompt(pool=False), *session.before(turn)])


def at_random(session: Session, seed: int = 0) -> Callable[[int], str]:
    """A function that picks a random tool for each turn."""
    random = Random(f"update {seed}")
    ids = list(session.tokens)
    return lambda turn: random.choice(ids)  # noqa: ARG005


def paper_layout(session: Session, active: Callable[[str], Sequence[str]]) -> Iterable[Blocks]:
    """Requests with the pool in the prefix and the turn's schemas right before the user's message."""
    for turn, said in enumerate(session.turns):
        schemas = session.definitions(active(said.text))
        yield from session.requests(turn, [*session.prompt(pool=True), *session.before(turn), *schemas])


def native_layout(session: Session, active: Callable[[str], Sequence[str]]) -> Iterable[Blocks]:
    """Requests with the turn's schemas where APIs put them: in `tools`, before everything else."""
    for turn, said in enumerate(session.turns):
        schemas = session.definitions(active(said.text))
        yield from session.requests(turn, [*schemas, *session.prompt(pool=True), *session.before(turn)])


def discovery_layout(session: Session, discovery: Discovery, task: Task, proxy: int = 0) -> Iterable[Blocks]:
    """Requests with delivery `append`: the meta-tool, then the definitions in load order.

    With `proxy`, the tokens of `call_tool`, the delivery is `call_tool`: no other definition is sent. Every
    model call is a request, and search results stay in the conversation.
    """
    meta = Block("meta-tools", discovery.meta + proxy, "meta")
    history: Blocks = []
    spent = 0
    for turn, contexts in enumerate(discovery.calls(task)[: len(session.turns)]):
        said, *results = session.within(turn)
        history.append(said)
        for left, context in zip(reversed(range(len(contexts))), contexts, strict=True):
            if context.traffic > spent:
                history.append(Block(f"search {context.traffic}", context.traffic - spent, "searches"))
                spent = context.traffic
            if not left:
                history += results
            tools = [] if proxy else session.definitions(context.bound)
            yield [meta, *tools, *session.prompt(pool=False), *history]
        history.append(session.answer(turn))
