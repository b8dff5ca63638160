"""Finds skills where clients look for them: below a folder, and in HOME."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from inspector.config.file import MAX_BYTES, read_bytes
from inspector.core.error import ConfigError
from inspector.features.skills.rule import SkillRule
from inspector.features.skills.skill import Flaw, Place, Skill, parse_skill

_FILE = "SKILL.md"
_DEEPEST = 3
_Found = tuple[Path, str, tuple[Flaw, ...]]


def find_skills(folder: Path, home: Path, rules: Sequence[SkillRule]) -> tuple[Skill, ...]:
    """The skills of a folder and of HOME, in every place that one of these clients reads.

    A folder that itself holds skills, or is one, is taken to be the place of each client.
    """
    everybody = frozenset(rule.client for rule in rules)
    if (folder / _FILE).exists():
        return tuple(_skills_in(Place("", folder.parent, everybody), folder.name))
    if any((Path(entry.path) / _FILE).exists() for entry in _entries(folder)):
        return tuple(_skills_in(Place("", folder, everybody)))
    return tuple(one for place in _places(folder, home, rules) for one in _skills_in(place))


def _places(folder: Path, home: Path, rules: Sequence[SkillRule]) -> Iterator[Place]:
    """Every place that is there, once, with the clients that read it."""
    root = next((one for one in (folder, *folder.parents) if (one / ".git").exists()), folder)
    bases = {"": (folder,), "also": (folder, root), "instead": (root,)}
    labels, readers = dict[Path, str](), dict[Path, set[str]]()
    for rule in rules:
        wanted = [(base / one, one) for base in bases[rule.above] for one in rule.project]
        for path, label in (*wanted, *((home / one, f"~/{one}") for one in rule.home)):
            labels.setdefault(path, label)
            readers.setdefault(path, set()).add(rule.client)
    # Those of the project first.
    for path, label in sorted(labels.items(), key=lambda pair: pair[1].startswith("~")):
        if path.is_dir():
            yield Place(label, path, frozenset(readers[path]))


def _skills_in(place: Place, only: str = "") -> Iterator[Skill]:
    for path, folder, flaws in _files(place.path, only):
        try:
            data = read_bytes(path, "skill", limit=MAX_BYTES)
        except ConfigError as error:
            flaw = Flaw("unreadable", 0, error.message)
            yield Skill(folder, folder, path, place, flaws=(flaw, *flaws))
            continue
        skill = parse_skill(data, folder, path, place, flaws)
        # Any folder may have Markdown that is no skill: README.md.
        if not (skill.flaw("flat") and skill.flaw("no-front-matter")):
            yield skill


def _files(folder: Path, only: str) -> Iterator[_Found]:
    """Each file with its folder's name, and the flaws of where it stands."""
    for entry in _entries(folder):
        if only and entry.name != only:
            continue
        path, flaws = Path(entry.path), list[Flaw]()
        flaws += [Flaw("dot-folder")] if entry.name.startswith(".") else []
        flaws += [Flaw("symlink")] if entry.is_symlink() else []
        if path.is_dir():
            yield from _of_folder(path, tuple(flaws), 0)
        elif entry.name.endswith(".md") and path.is_file():
            yield path, path.stem, (*flaws, Flaw("flat"))


def _of_folder(folder: Path, flaws: tuple[Flaw, ...], depth: int) -> Iterator[_Found]:
    """The file of a folder, else those of the folders in it."""
    inner = _entries(folder)
    named = sorted(entry.name for entry in inner if entry.name.lower() == _FILE.lower())
    if named:
        # In upper case it is first.
        yield folder / named[0], folder.name, flaws if named[0] == _FILE else (*flaws, Flaw("lower-case"))
    elif depth < _DEEPEST:
        nested = flaws if depth else (*flaws, Flaw("nested"))
        for entry in inner:
            if entry.is_dir(follow_symlinks=False):
                yield from _of_folder(Path(entry.path), nested, depth + 1)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, in the order of the disk; nothing if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (OSError, ValueError):
        return []
