"""A person's own keys: which bindings there are, by id, and what a file of keys may say of them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from textual.binding import BindingsMap
from textual.dom import DOMNode
from textual.keys import _character_to_key

from inspector.app.command import COMMANDS
from inspector.core.text import closest
from widgets import visible

_LONGEST = 60
_LIST = "in every list"


@dataclass(frozen=True, slots=True)
class BoundKeys:
    """The keys of one action by the id of its binding; `where` says on which pages they work."""

    id: str
    keys: str
    title: str
    where: str


def bound_keys(app: type[DOMNode]) -> tuple[BoundKeys, ...]:
    """Return every action of the app whose keys can be changed: everywhere, in lists, and page by page."""
    pages = tuple(_pages())
    found: dict[str, BoundKeys] = {}
    on_pages = Counter(bound.id for page in pages for bound in page)
    for bound in chain(_everywhere(app), *pages):
        found.setdefault(bound.id, _shared(bound, on_pages[bound.id], len(pages)))
    return tuple(found.values())


def _shared(bound: BoundKeys, pages: int, of: int) -> BoundKeys:
    """Return the keys with where they work: on one page, on several, or on all."""
    if pages < 2:
        return bound
    return replace(bound, where="every page" if pages == of else f"{pages} pages")


def _everywhere(app: type[DOMNode]) -> tuple[BoundKeys, ...]:
    from widgets import RecordRows

    return (*_of(app, "everywhere"), *_of(RecordRows, _LIST))


def _pages() -> Iterator[tuple[BoundKeys, ...]]:
    from inspector.app.pages.registry import SCREENS, page_class

    return (tuple(_of(page_class(name), name)) for name in SCREENS)


def _of(node: type[DOMNode], where: str) -> Iterator[BoundKeys]:
    """The bindings of a class and its bases that have an id, with all keys of each."""
    commands = {command.id: command.title for command in COMMANDS}
    keys: dict[str, list[str]] = {}
    titles: dict[str, str] = {}
    for part in node.__mro__:
        declared = part.__dict__.get("BINDINGS", ())
        for key, bindings in BindingsMap(declared).key_to_bindings.items():
            for binding in bindings:
                if binding.id:
                    keys.setdefault(binding.id, []).append(key)
                    titles.setdefault(binding.id, commands.get(binding.id, binding.description))
    return (BoundKeys(id_, ",".join(keys[id_]), titles[id_], where) for id_ in keys)


def checked(wanted: Mapping[str, Any], app: type[DOMNode]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return what can be used of a file of keys, and a sentence for everything that cannot."""
    known = {bound.id: bound for bound in bound_keys(app)}
    keymap: dict[str, str] = {}
    problems: list[str] = []
    for name, keys in wanted.items():
        shown = visible(name, limit=_LONGEST, newlines=False)
        if name not in known:
            near = ", ".join(closest(name, list(known), limit=2))
            problems.append(f"Unknown action '{shown}'" + (f"; closest: {near}." if near else "."))
        elif not isinstance(keys, str) or not keys.strip():
            problems.append(f'The keys for \'{shown}\' must be text, such as "f" or "ctrl+f,slash".')
        else:
            keymap[name] = ",".join(_key(key.strip()) for key in keys.split(",") if key.strip())
    return keymap, (*problems, *_clashes(keymap, app))


def _key(key: str) -> str:
    """Return a key by its name in Textual: `?` is question_mark."""
    return _character_to_key(key) if len(key) == 1 else key


def _clashes(keymap: Mapping[str, str], app: type[DOMNode]) -> tuple[str, ...]:
    """Say which keys mean two things on one page, because of a changed one; each pair once."""
    found: dict[tuple[str, str, str], str] = {}
    for page in _pages():
        used: dict[str, str] = {}
        for bound in chain(page, _everywhere(app)):
            for key in keymap.get(bound.id, bound.keys).split(","):
                before = used.setdefault(key, bound.id)
                if before != bound.id and {before, bound.id} & keymap.keys():
                    told = f"{key} is bound to both {before} and {bound.id} ({bound.where})."
                    found.setdefault((key, before, bound.id), told)
    return tuple(found.values())
