"""What of a skill each client shows in its list: the relation of skill, place and client."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from html.entities import codepoint2name

from msgspec import Struct
from msgspec.structs import replace

from inspector.core.number import count
from inspector.features.skills.rule import CHARACTERS, CostRule, SkillRule
from inspector.features.skills.skill import Flaw, Skill

_BLANK = re.compile(r"\s+")
_DESCRIPTION = re.compile(r"^description:(.*(?:\n(?:[ \t]|- ).*)*)", re.MULTILINE)
_FOLDERS = ("scripts", "references", "assets")


class State(StrEnum):
    """What a client's list has of a skill, the most first."""

    WHOLE = "whole"
    CUT = "cut"
    NAME = "name alone"
    HIDDEN = "hidden"
    GONE = "gone"


class Shown(Struct, frozen=True):
    """A skill in one client's list. `name` and `text` are what its model reads there, `why` not more of it.

    A `flaw` is the cause, `by` the other skill that has it, or that wins a shared name without a flaw. One
    that `is_spent` stands below the line where the list's budget ends. `note` is what else there is.
    """

    skill: Skill
    rule: SkillRule
    state: State
    name: str
    text: str = ""
    why: str = ""
    flaw: Flaw | None = None
    by: Skill | None = None
    note: str = ""
    is_spent: bool = False

    @property
    def is_listed(self) -> bool:
        """Whether the model reads at least its name."""
        return self.state not in (State.HIDDEN, State.GONE)

    @property
    def line(self) -> int:
        """The line of its file that is the cause; 0 for none."""
        return self.flaw.line if self.flaw and not self.by else 0

    @property
    def is_longest(self) -> bool:
        """Whether its description is cut because no longer one is shown."""
        return self.state is State.CUT and len(self.text) == _kept(self.rule, self.skill)

    @property
    def body(self) -> str:
        """How much of its body a model gets that loads it; "" if none can."""
        if self.state is State.HIDDEN:
            return self.note
        length, limit = len(self.skill.body), self.rule.limit
        whole = f"{limit:,} of {length:,} characters" if limit and length > limit else "whole"
        return whole if self.is_listed else ""


def shown_in(rule: SkillRule, skills: Sequence[Skill]) -> tuple[Shown, ...]:
    """The skills that stand where the client looks, in the order of its list; what is gone or hidden last."""
    placed = [one for one in skills if rule.client in one.place.clients]
    causes = [
        (scope, one, flaw)
        for scope, kinds in rule.empties.items()
        for one in placed
        if (flaw := one.flaw(*kinds))
    ]
    found = list(_without_losers(rule, [_emptied(rule, one, causes) or _alone(rule, one) for one in placed]))
    listed = [one for one in found if one.is_listed]
    if rule.order != "disk":
        listed.sort(key=lambda one: one.name, reverse=rule.order == "reverse")
    return (*_within_budget(rule, listed), *(one for one in found if not one.is_listed))


def _emptied(rule: SkillRule, skill: Skill, causes: Sequence[tuple[str, Skill, Flaw]]) -> Shown | None:
    """Gone for what a file of its folder, or of the list, says; None if none does that."""
    for scope, other, flaw in sorted(causes, key=lambda cause: cause[1] is not skill):
        if scope == "list" or other.place == skill.place:
            by = None if other is skill else other
            why = f"the whole {scope} is gone: {flaw}{f', in {other.path}' if by else ''}"
            return Shown(skill, rule, State.GONE, skill.name, why=why, flaw=flaw, by=by)
    return None


def _alone(rule: SkillRule, skill: Skill) -> Shown:
    """What the client makes of it if there is no other."""
    is_unread = skill.flaw(*({"no-front-matter", "empty-line"} & rule.shows.keys()))
    name = skill.folder if rule.named == "folder" or is_unread else skill.name
    shown = Shown(skill, rule, State.WHOLE, name)
    if flaw := skill.flaw("unreadable", *rule.gone):
        return replace(shown, state=State.GONE, why=str(flaw), flaw=flaw)
    if not is_unread and (flaw := skill.flaw(*rule.hides)):
        return replace(shown, state=State.HIDDEN, why=str(flaw), flaw=flaw, note=rule.hides[flaw.kind])
    if rule.longest == 0:
        return replace(shown, state=State.NAME, why="this client lists names only")
    if skill.flaw(*rule.always):
        return replace(shown, text=skill.body.strip(), note="its body is in every request")
    return _with_text(rule, shown)


def _with_text(rule: SkillRule, shown: Shown) -> Shown:
    """With its description as far as it is shown."""
    skill, text, note = shown.skill, shown.skill.description, ""
    if flaw := skill.flaw(*rule.shows):
        how = rule.shows[flaw.kind]
        text, note = _instead(how, skill), f"{flaw}: shown is the {how}"
    text = f"{text} {skill.text_of(rule.adds)}".strip()
    shown = replace(shown, text=text, note=note, flaw=flaw)
    if not text:
        return replace(shown, state=State.NAME, why=str(flaw or "no text to show"), note="")
    if rule.block and skill.block and "\n" in text:
        return replace(
            shown, state=State.CUT, text=text.partition("\n")[0], why="only its first line is shown"
        )
    if rule.longest is not None and len(text) > rule.longest:
        kept = _kept(rule, skill)
        why = f"{kept:,} of {count(len(text), 'character')} are shown"
        why += ", and as many of its end" if rule.middle else ""
        return replace(shown, state=State.CUT, text=text[:kept], why=why)
    return shown


def _kept(rule: SkillRule, skill: Skill) -> int:
    """How many characters of a description that is too long are shown before what ends it; 0 for no limit."""
    kept = max((rule.longest or 0) - len(rule.ends.format(path=skill.path)), 0)
    return (kept + 1) // 2 if rule.middle else kept


def _instead(how: str, skill: Skill) -> str:
    """What stands in place of a description: how the data call it."""
    body = skill.whole if skill.flaw("empty-line", "bom") else skill.body
    lines = [line.strip() for line in body.splitlines()]
    match how:
        case "first line":
            return next(filter(None, lines), "").lstrip("# ")
        case "heading":
            return next((line.lstrip("# ") for line in lines if line.startswith("#")), "")
        case "first words":
            return next((line for line in lines if line and not line.startswith("#")), "")
        case "text":
            return " ".join(line for line in lines if line and not line.startswith("#"))
        case "joined items":
            return ",".join(skill.items)
        case "lines":
            found = _DESCRIPTION.search(skill.whole)
            return " ".join(found[1].split()) if found else ""
        case "Python list":
            return str(list(skill.items))
    return body.strip() if how == "body" else ""


def _without_losers(rule: SkillRule, found: Sequence[Shown]) -> Iterator[Shown]:
    """Of listed skills with one name the winner; the others are gone. Two clients list them all."""
    by_name: dict[str, list[Shown]] = {}
    for one in found:
        if one.is_listed:
            by_name.setdefault(one.name, []).append(one)
    for one in found:
        # What won when it was measured, else one of the same scope, else the first.
        winner = min(by_name.get(one.name, ()), key=_preference, default=one)
        if not one.is_listed or one is winner or rule.wins == "both":
            yield one
        elif rule.wins == "all":
            yield replace(one, note=f"a call gives the body of {winner.skill.path}")
        else:
            why = f"{winner.skill.path} has the same name and wins"
            yield Shown(one.skill, rule, State.GONE, one.name, why=why, by=winner.skill)


def _preference(one: Shown) -> tuple[bool, bool]:
    """How a skill stands to the place that wins, best first."""
    label, wins = one.skill.place.label, one.rule.wins
    return label != wins, label.startswith("~") != wins.startswith("~")


def entry_line(one: Shown, text: str | None = None) -> str:
    """A skill's text in the list, with another description if one is given."""
    rule, skill, shown = one.rule, one.skill, one.text if text is None else text
    told = _BLANK.sub(" ", shown)
    if text is None and one.is_longest:
        told += rule.ends.format(path=skill.path) + (skill.description[-len(shown) :] if rule.middle else "")
    told = told.translate({ord(each): f"&{codepoint2name[ord(each)]};" for each in rule.escapes})
    is_other = rule.named == "folder" and skill.name != one.name
    name = f"{one.name} ({skill.name})" if is_other else one.name
    is_short = "{place}" in rule.cost.place
    path = skill.path.relative_to(skill.place.path) if is_short else skill.path
    template, folder = rule.cost.line if shown or not rule.cost.bare else rule.cost.bare, skill.path.parent
    inner = [(each, folder / each) for each in _FOLDERS if rule.cost.folder and (folder / each).is_dir()]
    folders = "".join(rule.cost.folder.format(name=each, path=there) for each, there in inner)
    return template.format(name=name, text=told, path=path, folder=folder, folders=folders)


def _within_budget(rule: SkillRule, listed: Sequence[Shown]) -> Iterator[Shown]:
    """With what the budget of the whole list leaves of each description."""
    cost, beside = rule.cost, [_frame(one) for one in listed]
    own = sum(frame + length for frame, length, _ in cost.own)
    if not cost.budget or own + sum(beside) + sum(len(one.text) for one in listed) <= cost.budget:
        yield from listed
        return
    spent = f"the list's {cost.budget:,} characters for descriptions are spent"
    if cost.even:
        for one, most in zip(listed, _evenly(cost, beside, [len(one.text) for one in listed]), strict=True):
            state = State.CUT if most else State.NAME
            cut = replace(one, state=state, text=one.text[:most], why=f"{spent}: {most} for this one")
            yield cut if most < len(one.text) else one
        return
    names = [len(entry_line(one, "")) if cost.reserves else 0 for one in listed]
    used, last = own + sum(names), ""
    for one, frame, name in zip(listed, beside, names, strict=True):
        used += frame + len(one.text) - name
        if used <= cost.budget:
            last = one.name
            yield one
        else:
            why = f"below {last}: {spent}" if last else spent
            yield replace(one, state=State.NAME, text="", why=why, flaw=None, note="", is_spent=True)


def _evenly(cost: CostRule, beside: Sequence[int], lengths: Sequence[int]) -> list[int]:
    """How many characters of each description are kept where the client's own entries share the budget.

    Each gets one after the other until the tokens of the budget, of four characters each, are spent.
    """
    frames = [*(frame for frame, _, _ in cost.own), *beside]
    wanted, kept = [*(length for _, length, _ in cost.own), *lengths], [0] * len(frames)
    left = cost.budget // CHARACTERS - sum(-(-frame // CHARACTERS) for frame in frames)
    growing = list(range(len(frames)))
    while growing:
        growing = [at for at in growing if kept[at] < wanted[at]]
        for at in tuple(growing):
            # The character after a whole token begins another one.
            price = (frames[at] + kept[at]) % CHARACTERS == 0
            if price > left:
                growing.remove(at)
            else:
                left, kept[at] = left - price, kept[at] + 1
    return kept[len(cost.own) :]


def _frame(one: Shown) -> int:
    """The characters of its entry beside the description."""
    return len(entry_line(one, "x")) - 1
