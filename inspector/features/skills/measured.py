"""What a client's first request holds of skills, beside what is known of the client."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Any

from msgspec import Struct

from inspector.core.error import ConfigError
from inspector.core.number import percent
from inspector.core.report import NAME, Block, Column, Table
from inspector.features.skills.cost import list_cost
from inspector.features.skills.facts import state_text
from inspector.features.skills.inventory import Inventory
from inspector.features.skills.rule import RULES
from inspector.features.skills.shown import Shown, State
from inspector.schema.json_value import JsonObject
from inspector.tokens.counter import TiktokenCounter

# Of a description so much is no accident.
_LEAST = 8
# A line of a drawing of the project's folder, which some clients send as well.
_DRAWN = re.compile(r"^[ │]*[├└]─.*\n?", re.MULTILINE)


def place_of(client: str) -> str:
    """Where in a project it looks first. Raises ConfigError for one whose rules are not known."""
    if client not in RULES:
        raise ConfigError(f"what {client} does with skills is not known", hint=f"Known: {', '.join(RULES)}.")
    return RULES[client].project[0]


class Held(Struct, frozen=True):
    """A skill as it is known to be shown, and as the request shows it: whole, cut, by name, or not."""

    known: Shown
    state: State
    kept: int

    @property
    def agrees(self) -> bool:
        """Whether both are the same; what is hidden and what is gone look alike."""
        if self.known.state in (State.HIDDEN, State.GONE):
            return self.state is State.GONE
        is_cut = self.state is State.CUT
        return self.state is self.known.state and (not is_cut or self.kept == len(_plain(self.known.text)))


_COLUMNS = (
    Column("skill", "known.name", NAME),
    Column("known", lambda one: state_text(one.known.state, len(one.known.text))),
    Column("measured", lambda one: state_text(one.state, one.kept)),
    Column("", lambda one: "" if one.agrees else "differs"),
    Column("why", "known.why"),
)


def compared(run: Any) -> tuple[JsonObject, Iterator[Block]]:
    """What a `SkillRun` shows, for programs and for people."""
    rule, count = RULES[run.client], TiktokenCounter("").count
    found = Inventory.of(run.work, run.home, [rule])
    given, bare = ([_DRAWN.sub("", text) for text in texts] for texts in (run.given, run.bare))
    tokens = sum(map(count, given)) - sum(map(count, bare))
    added = _plain("\n".join((Counter(_lines(given)) - Counter(_lines(bare))).elements()))
    shown = found.shown[run.client]
    texts = [_text_of(one) for one in shown]
    held = [_held(one, text, texts, added) for one, text in zip(shown, texts, strict=True)]
    cost = list_cost(rule, shown, count)
    differing = [one for one in held if not one.agrees]
    data = {
        "client": run.client,
        "version": run.version,
        "known_version": rule.version,
        "tokens": tokens,
        "known_tokens": cost.tokens,
        "skills": [
            {"skill": one.known.name, "path": str(one.known.skill.path.relative_to(run.home))}
            | {"known": one.known.state, "known_characters": len(one.known.text)}
            | {"measured": one.state, "characters": one.kept, "agrees": one.agrees}
            for one in held
        ],
    }
    off = f", {percent(cost.tokens / tokens - 1, 1)} off" if tokens else ""
    told = (
        f"{run.client} {run.version}, known {rule.version}: {len(differing)} of {len(held)} differ",
        Table.of(_COLUMNS, held),
        f"the list takes {tokens:,} tokens (o200k), known {cost.tokens:,}{off}",
    )
    return data, iter(told)


def _text_of(known: Shown) -> str:
    """What stands there of it if all of it does."""
    described, text = _plain(known.skill.description), _plain(known.text)
    return described if described.startswith(text) and described else text


def _held(known: Shown, text: str, others: Sequence[str], added: str) -> Held:
    """How much of a skill stands in what its folder added to the request, beyond what others begin with."""
    kept = len(text[: _longest(text, added)].rstrip())
    alike = max((_longest(text, f"\0{one}", "\0") for one in others if one != text), default=0)
    if kept and kept >= min(max(alike + 1, _LEAST), len(text)):
        return Held(known, State.WHOLE if kept == len(text) else State.CUT, kept)
    names = {known.name, known.skill.name, known.skill.folder}
    is_named = any(re.search(rf"(?<![\w/-]){re.escape(name)}(?![\w/-])", added) for name in names)
    return Held(known, State.NAME if is_named else State.GONE, 0)


def _longest(text: str, within: str, after: str = "") -> int:
    """How many characters of its beginning stand there, right after something."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if after + text[:middle] in within else (low, middle - 1)
    return low


def _plain(text: str) -> str:
    """The text as all clients may write it: markup may be escaped, and lines may be joined."""
    return " ".join(unescape(text).split())


def _lines(texts: Sequence[str]) -> Iterator[str]:
    return (line for text in texts for line in text.splitlines())
