"""All skills of a folder and of HOME in all clients: what leaves them out, and which have the same name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from msgspec import Struct

from inspector.config.configuration import Configuration
from inspector.features.skills.place import find_skills
from inspector.features.skills.rule import RULES, SkillRule
from inspector.features.skills.shown import Shown, State, shown_in
from inspector.features.skills.skill import Flaw, Skill

_BEST = tuple(State)


class Fault(Struct, frozen=True):
    """What of a skill's file leaves it out of the lists of these clients, and `others` with it."""

    skill: Skill
    flaw: Flaw
    clients: tuple[SkillRule, ...]
    others: tuple[Shown, ...]

    @property
    def quoted(self) -> str:
        """The line as it stands there; "" if it is no line's fault."""
        return self.skill.whole.split("\n")[self.flaw.line - 1].strip() if self.flaw.line else ""


class Duplicate(Struct, frozen=True):
    """Skills of one name, and which of them each client shows that finds more than one."""

    name: str
    skills: tuple[Skill, ...]
    winners: Mapping[str, tuple[Skill, ...]]


class Inventory(Struct, frozen=True):
    """The skills, and by client what it shows of those that stand where it looks.

    `lists` are those of each folder: a client is in one of them at a time.
    """

    skills: tuple[Skill, ...]
    rules: tuple[SkillRule, ...]
    shown: Mapping[str, tuple[Shown, ...]]
    lists: Mapping[str, Sequence[tuple[Shown, ...]]] = {}

    @classmethod
    def of(
        cls, folder: Path, home: Path, rules: Sequence[SkillRule], more: Sequence[Path] = ()
    ) -> "Inventory":
        """Read the skills of a folder, of more of them, and of HOME."""
        return cls.of_folders([find_skills(each, home, rules) for each in (folder, *more)], rules)

    @classmethod
    def of_folders(cls, found: Sequence[Sequence[Skill]], rules: Sequence[SkillRule]) -> "Inventory":
        """What becomes of the skills that were found in each folder and in HOME."""
        skills = {one.path: one for one in chain.from_iterable(found)}
        lists = {rule.client: [shown_in(rule, one) for one in found] for rule in rules}
        shown = {client: tuple(_shown_somewhere(every)) for client, every in lists.items()}
        return cls(tuple(skills.values()), tuple(rules), shown, lists)

    def by_name(self) -> dict[str, list[Skill]]:
        """The skills by name, in order."""
        found: dict[str, list[Skill]] = {}
        for one in sorted(self.skills, key=lambda skill: skill.name):
            found.setdefault(one.name, []).append(one)
        return found

    def places(self) -> dict[Path, str]:
        """What to call each place: its label, after its project's folder if several have such a place."""
        labels = {one.place.path: one.place.label for one in self.skills}
        same = Counter(labels.values())
        return {
            path: label if same[label] == 1 else str(Path(*path.parts[-1 - len(Path(label).parts) :]))
            for path, label in labels.items()
        } | {path: str(path) for path, label in labels.items() if not label}

    def by_path(self) -> dict[Path, list[Shown]]:
        """What each client makes of a skill, by its file."""
        found: dict[Path, list[Shown]] = {one.path: [] for one in self.skills}
        for one in chain.from_iterable(self.shown.values()):
            found[one.skill.path].append(one)
        return found

    def best(self, client: str) -> dict[str, Shown]:
        """By name, what a client shows at best of the skills of a name that stand where it looks."""
        found = sorted(self.shown[client], key=lambda one: _BEST.index(one.state), reverse=True)
        return {one.skill.name: one for one in found}

    def faults(self) -> Iterator[Fault]:
        """What leaves skills out, each cause with all clients."""
        causes: dict[tuple[Path, Flaw], list[Shown]] = {}
        for one in chain.from_iterable(self.shown.values()):
            if one.state is State.GONE and one.flaw is not None:
                causes.setdefault(((one.by or one.skill).path, one.flaw), []).append(one)
        skills = {one.path: one for one in self.skills}
        for (path, flaw), found in causes.items():
            clients = tuple(one.rule for one in found if one.by is None)
            yield Fault(skills[path], flaw, clients, tuple(one for one in found if one.by is not None))

    def duplicates(self, skills: Sequence[Skill]) -> Iterator[Duplicate]:
        """Those of these skills' names that several have, as far as any client finds more than one."""
        wanted = {one.name for one in skills}
        for name, same in self.by_name().items():
            if name not in wanted or len(same) < 2:
                continue
            own = {
                client: [one for one in every if one.skill.name == name]
                for client, every in self.shown.items()
            }
            winners = {
                client: tuple(one.skill for one in found if one.is_listed)
                for client, found in own.items()
                if len(found) > 1
            }
            if winners:
                yield Duplicate(name, tuple(same), winners)


def _shown_somewhere(lists: Sequence[tuple[Shown, ...]]) -> Iterable[Shown]:
    """What becomes of each skill; of one of HOME in a folder whose list has it, if there is any."""
    found: dict[Path, Shown] = {}
    for one in chain.from_iterable(lists):
        if one.is_listed or one.skill.path not in found:
            found[one.skill.path] = one
    return found.values()


def configured(configuration: Configuration, window: int | None) -> Inventory:
    """The skills of the folders that the configuration names, or else of this one, and of HOME."""
    named = [Path(spec.listing) for spec in configuration.servers if spec.is_skills]
    folder, *more = named or [Path.cwd()]
    return Inventory.of(folder, Path.home(), [rule.at(window) for rule in RULES.values()], more)
