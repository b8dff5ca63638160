"""Skills in clients as lines, tables and JSON."""

from collections import Counter as Numbers
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from inspector.cli.table import side_by_side
from inspector.config.configuration import Configuration
from inspector.core.number import count
from inspector.core.report import COUNT, NAME, NOTHING, Block, Column, Fact, Facts, Table, cut
from inspector.features.skills.cost import Counter, ListCost, list_cost
from inspector.features.skills.inventory import Duplicate, Inventory, configured
from inspector.features.skills.rule import RULES, SkillRule
from inspector.features.skills.shown import Shown, State
from inspector.features.skills.skill import Skill

SIGNS = {State.WHOLE: "✓", State.CUT: "✂", State.NAME: "~", State.HIDDEN: "∅", State.GONE: "✕"}
_LEGEND = "✓ whole   ✂ cut to so many characters   ~ name alone   ∅ hidden   ✕ gone   – not where it looks"
NONE = "There are no skills where clients look. Most of them find .agents/skills/NAME/SKILL.md."
_COUNTED = "tokens (o200k): counted on the text that each client writes, as captured on {dates}"
_LONGEST = 200
_COSTS = (
    Column("list in", "rule.client", NAME),
    Column("tokens", kind=COUNT),
    Column("skills", "listed", COUNT),
    Column("described", kind=COUNT),
    Column("whole", kind=COUNT),
    Column("last described", lambda cost: cost.last or NOTHING),
)


def state_text(state: State, kept: int) -> str:
    """A state with its sign; of a cut text also how many characters are kept."""
    return f"{SIGNS[state]} {state}{f' {kept:,}' if state is State.CUT else ''}"


def _state(one: Shown | None) -> str:
    return state_text(one.state, len(one.text)) if one else NOTHING


def _why(one: Shown) -> str:
    line = f"line {one.line}" if one.line else ""
    return "; ".join(filter(None, (line, one.why, one.note))) or NOTHING


_SHOWN = (
    Column("client", "rule.client", NAME),
    Column("list", _state, NAME),
    Column("why", _why),
    Column("body", lambda one: one.body or NOTHING),
    Column("loaded by", "rule.body"),
)


def shortened(text: str) -> str:
    """The beginning of a text as one line, in which what controls a terminal stays to be seen."""
    return cut(" ".join(text.split()), _LONGEST)


def measured(rules: Iterable[SkillRule]) -> str:
    """With which versions of clients, and when."""
    rules = tuple(rules)
    return f"{', '.join(f'{rule.client} {rule.version}' for rule in rules)} ({_dates(rules)})"


def _dates(rules: Iterable[SkillRule]) -> str:
    return ", ".join(sorted({rule.date for rule in rules}))


def costs(found: Inventory, tokens: Counter) -> list[ListCost]:
    """What the list of each client costs that finds skills: that of the folder where it costs most."""
    return [
        max((list_cost(rule, one, tokens) for one in found.lists[rule.client]), key=lambda cost: cost.tokens)
        for rule in found.rules
        if found.shown[rule.client]
    ]


def list_costs(configuration: Configuration, window: int | None, tokens: Counter) -> list[ListCost]:
    """What the list of each client costs that finds skills where the configuration says, or here."""
    return costs(configured(configuration, window), tokens)


def list_report(found: Inventory, tokens: Counter, width: int) -> Iterator[Block]:
    """All skills in all clients that find any, as far as it fits the width, and what their lists cost."""
    if not found.skills:
        yield NONE
        return
    yield places_text(found)
    lists = costs(found, tokens)
    clients = [cost.rule.client for cost in lists]
    cells = [found.best(client) for client in clients]
    rows = tuple((name, *(_state(one.get(name)) for one in cells)) for name in found.by_name())
    shown = next(side_by_side(Table("", ("skill", *clients), rows, notes=(_LEGEND,)), width))
    yield shown
    if left := clients[len(shown.headers) - 1 :]:
        yield f"a wider terminal and --json also show: {', '.join(left)}"
    note = _COUNTED.format(dates=_dates(found.rules))
    yield Table.of(_COSTS, lists, "What each list costs in the first request", (note,))
    if others := [rule.client for rule in found.rules if rule.client not in clients]:
        yield f"find no skill here: {', '.join(others)}"
    yield "`toolsight skills NAME` says why; with --set discovery.skills=. a check tells what is gone."


def places_text(found: Inventory) -> str:
    """How many skills there are, and where."""
    names = found.places()
    places = Numbers(names[one.place.path] for one in found.skills)
    named = ", ".join(f"{label} {number}" for label, number in places.items())
    return f"{count(len(found.skills), 'skill')}: {named}"


def client_report(found: Inventory, cost: ListCost) -> Iterator[Block]:
    """Every skill in one client's list, in its order, and what is known of the list."""
    rule = cost.rule
    facts = [
        Fact("list", rule.stands),
        Fact("takes", f"{count(cost.tokens, 'token')}; {cost.described} of {cost.listed} have a description"),
        Fact("below", f"{cost.last}: no descriptions" if cost.last else ""),
        Fact("body by", rule.body),
        Fact("says what is gone", rule.tells or "nowhere"),
        Fact("measured", f"{rule.version}, {rule.date}"),
    ]
    yield Facts(tuple(one for one in facts if one.text))
    yield Table.of((Column("skill", "name", NAME), *_SHOWN[1:4]), found.shown[rule.client])


def skill_report(found: Inventory, skills: Sequence[Skill]) -> Iterator[Block]:
    """Everything about the skills of one name."""
    for skill in skills:
        text = f"{len(skill.description):,} characters: {shortened(skill.description)}"
        facts = [Fact("description", text), Fact("body", f"{len(skill.body):,} characters")]
        for one in skill.flaws:
            facts.append(Fact("flaw", f"line {one.line}: {one}" if one.line else str(one), warns=True))
        if skill.commands:
            who = ", ".join(rule.client for rule in found.rules if rule.executes) or "none of these"
            facts.append(Fact("runs", f"{', '.join(skill.commands)} once it is loaded: {who}", warns=True))
        yield Facts(tuple(facts), str(skill.path))
        yield Table.of(_SHOWN, found.by_path()[skill.path])
    yield from chain.from_iterable(map(_duplicate, found.duplicates(skills)))
    yield f"measured: {measured(found.rules)}"


def check_findings(folder: Path, clients: Collection[str]) -> Iterator[tuple[Path | None, int, str, str]]:
    """What a check says of a folder's skills in these clients: file, line, sentence, and proof.

    There is no file for a name that several skills share.
    """
    found = Inventory.of(folder, Path.home(), [rule for name, rule in RULES.items() if name in clients])
    by_path = found.by_path()
    for fault in found.faults():
        path, line, rules = fault.skill.path, fault.flaw.line, fault.clients
        silent, names = sum(not rule.tells for rule in rules), ", ".join(rule.client for rule in rules)
        of = count(len(by_path[path]), "client")
        lines = [shortened(fault.quoted)] if line else []
        lines.append(f"✕ gone in {len(rules)} of {of} because of this ({silent} say nothing): {names}")
        for client, number in Numbers(one.rule.client for one in fault.others).items():
            lines.append(f"✕ {count(number, 'other skill')} with it in {client}")
        yield path, line, f"{path}{f':{line}' if line else ''}: {fault.flaw}", "\n".join(lines)
    for one in found.duplicates(found.skills):
        head, *shown = map(str.strip, _duplicate(one))
        yield None, 0, head, "\n".join(shown)


def _duplicate(one: Duplicate) -> Iterator[str]:
    texts = len({skill.whole for skill in one.skills})
    same = "the same text" if texts == 1 else f"{texts} different texts"
    yield f"{one.name}: {len(one.skills)} skills share this name, with {same}. Clients show:"
    by_winner: dict[str, list[str]] = {}
    for client, skills in one.winners.items():
        by_winner.setdefault(" and ".join(str(s.path) for s in skills) or "none", []).append(client)
    yield from (f"    {paths}: {', '.join(clients)}" for paths, clients in by_winner.items())


def inventory_json(found: Inventory, tokens: Counter, skills: Sequence[Skill]) -> dict[str, Any]:
    """These skills in all clients, and the costs of all lists."""
    by_path = found.by_path()
    every = [_skill_json(one, by_path[one.path]) for one in skills]
    return {"skills": every, "lists": [_cost_json(cost) for cost in costs(found, tokens)]}


def _cost_json(cost: ListCost) -> dict[str, Any]:
    told, rule = to_builtins(cost), cost.rule
    del told["rule"]
    by = {"stands_in": rule.stands, "order": rule.order}
    return {"client": rule.client, "version": rule.version, "measured": rule.date, **told, **by}


def _skill_json(skill: Skill, shown: Sequence[Shown]) -> dict[str, Any]:
    clients = (
        {"client": one.rule.client, "state": one.state, "name": one.name, "text": one.text, "why": one.why}
        | {"line": one.line, "by": str(one.by.path) if one.by else "", "note": one.note, "body": one.body}
        for one in shown
    )
    flaws = [to_builtins(one) | {"says": str(one)} for one in skill.flaws]
    told = {"skill": skill.name, "path": str(skill.path), "place": skill.place.label}
    text = {"description": skill.description, "body_characters": len(skill.body), "runs": skill.commands}
    return {**told, **text, "flaws": flaws, "clients": [*clients]}
