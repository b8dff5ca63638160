"""A skill as its SKILL.md has it, and what of it some client does not read.

Clients read front matter with different parsers: what the strict one refuses is read line by line here, as
the most lenient of them do, and has a flaw with its line.
"""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct, field

from inspector.config.yaml_text import Loader
from inspector.features.skills.rule import FLAWS

_HEAD = re.compile(r"((?:[ \t]*\r?\n)*)---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"^([\w-]+):[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_PLAIN_NAME = re.compile(r"[a-z0-9-]+")
_BLOCK = re.compile(r"^description:[ \t]*\|", re.MULTILINE)
_COMMANDS = re.compile(r"!`[^`\n]+`")
_LONGEST_DETAIL = 80
# Of each value of the front matter what is wrong with it. The longest are those that Agent Skills allow;
# clients that leave out longer ones were measured with names of 70 and descriptions of 1,121 characters.
_OF_VALUES: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("no-name", "name", lambda value: not _is_said(value)),
    ("no-description", "description", lambda value: not _is_said(value)),
    ("description-list", "description", lambda value: isinstance(value, list) and bool(value)),
    (
        "description-number",
        "description",
        lambda value: _is_said(value) and not isinstance(value, str | list),
    ),
    ("long-description", "description", lambda value: isinstance(value, str) and len(value.strip()) > 1_024),
    ("license-number", "license", lambda value: _is_said(value) and not isinstance(value, str)),
    ("metadata-text", "metadata", lambda value: _is_said(value) and not isinstance(value, dict)),
    ("disable-model-invocation", "disable-model-invocation", lambda value: value in (True, "true")),
    ("paths", "paths", bool),
)
_OF_NAMES: tuple[tuple[str, Callable[[str, str], bool]], ...] = (
    ("other-name", lambda name, folder: name != folder),
    ("non-ascii", lambda name, _folder: not name.isascii()),
    ("upper-case", lambda name, _folder: name.isascii() and not _PLAIN_NAME.fullmatch(name)),
    ("long-name", lambda name, _folder: len(name) > 64),
)


class Flaw(Struct, frozen=True):
    """What some client trips over: a key of `FLAWS`, its line (0: of no line), and what stands there."""

    kind: str
    line: int = 0
    detail: str = ""

    def __str__(self) -> str:
        return f"{FLAWS[self.kind]} ({self.detail[:_LONGEST_DETAIL]})" if self.detail else FLAWS[self.kind]


class Place(Struct, frozen=True):
    """A folder of skills and the clients that look there. `label` is theirs: `~/.claude/skills`.

    One that a person named has none: it is taken to be where each client looks.
    """

    label: str
    path: Path
    clients: frozenset[str]


class Skill(Struct, frozen=True):
    """A skill in one place. `folder` is its folder's name, `name` its own or else that.

    `description` is "" without one; of a list it has the `items` in lines. `said` is the front matter,
    `whole` the file's text. A `block` is a description in several lines behind `|`.
    """

    folder: str
    name: str
    path: Path
    place: Place
    description: str = ""
    body: str = ""
    whole: str = ""
    flaws: tuple[Flaw, ...] = ()
    said: Mapping[str, Any] = field(default_factory=dict)
    items: tuple[str, ...] = ()
    block: bool = False

    @property
    def commands(self) -> tuple[str, ...]:
        """What two clients run when they load the body."""
        return tuple(_COMMANDS.findall(self.body))

    def text_of(self, key: str) -> str:
        """What its front matter says under a key; "" for nothing."""
        return _text(self.said.get(key))

    def flaw(self, *kinds: str) -> Flaw | None:
        """The first flaw of these kinds; None without one."""
        return next((one for one in self.flaws if one.kind in kinds), None)


def parse_skill(data: bytes, folder: str, path: Path, place: Place, of_place: tuple[Flaw, ...] = ()) -> Skill:
    """What these bytes say, whatever they are; what is no UTF-8 is replaced. The place has flaws, too."""
    whole = data.decode("utf-8", "replace")
    text = whole.removeprefix("\ufeff")
    flaws = (*of_place, *([Flaw("bom", 1)] if text is not whole else []))
    head = _HEAD.match(text)
    if head is None or not head[2].strip():
        flaws = (*flaws, Flaw("no-front-matter", 1))
        return Skill(folder, folder, path, place, body=text, whole=text, flaws=flaws)
    above = head[1].count("\n") + 1
    lines = {match[1]: above + 1 + head[2].count("\n", 0, match.start()) for match in _KEY.finditer(head[2])}
    said, problem = _said(head[2], above)
    name, description = _text(said.get("name")) or folder, said.get("description")
    items = tuple(map(_text, description)) if isinstance(description, list) else ()
    flaws = (*flaws, *([Flaw("empty-line", 1)] if above > 1 else []), *([problem] if problem else []))
    values = [
        Flaw(kind, lines.get(key, 1), _text(said.get(key)) if kind.endswith("number") else "")
        for kind, key, is_so in _OF_VALUES
        if is_so(said.get(key))
    ]
    names = [Flaw(kind, lines.get("name", 1), name) for kind, is_so in _OF_NAMES if is_so(name, folder)]
    return Skill(
        *(folder, name, path, place),
        "\n".join(items) or _text(description),
        text[head.end() :],
        text,
        (*flaws, *values, *names),
        said,
        items,
        _BLOCK.search(head[2]) is not None,
    )


def _said(front: str, above: int) -> tuple[Mapping[str, Any], Flaw | None]:
    """The values of the front matter by key, and why strict YAML refuses it; `above` are the lines before."""
    try:
        found = yaml.load(front, Loader)
        if isinstance(found, dict):
            return {_text(key): value for key, value in found.items()}, None
        problem = Flaw("not-yaml", above + 1, "no map")
    except yaml.MarkedYAMLError as error:
        problem = _yaml_flaw(error, above, front.count("\n"))
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError, TypeError, AttributeError) as error:
        line = above + 1 + front.count("\n", 0, getattr(error, "position", 0))
        problem = Flaw("not-yaml", line, str(error).partition("\n")[0])
    return {match[1]: match[2].strip("\"'") for match in _KEY.finditer(front)}, problem


def _yaml_flaw(error: yaml.MarkedYAMLError, above: int, lines: int) -> Flaw:
    why, mark = error.problem or "", error.problem_mark
    line = above + 1 + min(mark.line if mark else 0, lines)
    if why == "mapping values are not allowed here":
        return Flaw("bare-colon", line)
    if "'\\t'" in why:
        return Flaw("tab", line)
    if error.context == "while scanning a quoted scalar" and error.context_mark is not None:
        return Flaw("unclosed-quote", above + 1 + error.context_mark.line)
    return Flaw("not-yaml", line, why)


def _is_said(value: object) -> bool:
    """Whether a key has a value: neither null nor blank."""
    return value is not None and value not in ([], {}) and not (isinstance(value, str) and not value.strip())


def _text(value: object) -> str:
    """A value as text; "" for none, and for a number that is too long to write."""
    try:
        return str(value).strip() if _is_said(value) else ""
    except (ValueError, RecursionError):
        return ""
