"""Reads policies, YAML or JSON: organisations with their roles and users, and experts.

organisations:
  acme:
    tools: ["shop:*"]
    roles: {sales: ["crm:find_*"]}
    users: {ada: {roles: [sales], tools: ["mail:send"]}}
experts:
  billing: ["shop:*", "crm:*"]
always_include:
  billing: ["shop:find_*"]
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import AfterValidator, Field

from inspector.config.file import MEGABYTE, dotted, load_document, read_text
from inspector.config.problem import Location, NullAsAbsent, meant, not_empty, refusal, validated
from inspector.config.yaml_text import Loader
from inspector.core.access import AccessPolicy, Grant, Scope, User
from inspector.core.error import ConfigError

_HINT = "Indent with spaces, and quote text that contains a colon or a bracket."


def load_yaml(path: Path, kind: str) -> tuple[Any, Callable[[Location], str]]:
    """The file's content, and a function that returns a location's file, and its line. Raises ConfigError.

    A file that is called .json is read as JSON, without the lines.
    """
    if path.suffix == ".json":
        return load_document(path, kind), lambda _loc: str(path)
    # Reading YAML takes about five seconds a megabyte.
    text = read_text(path, kind, limit=MEGABYTE)
    try:
        loader = Loader(text)
        tree = loader.get_single_node()
        value = None if tree is None else loader.construct_document(tree)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
        raise ConfigError(f"{place}: not valid YAML: {error.problem}", hint=_HINT) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else " ".join(str(error).split())
        raise ConfigError(f"{path}: not valid YAML: {reason}", hint=_HINT) from error
    return value, lambda loc: f"{path}:{_line(tree, loc)}"


def _line(node: yaml.Node | None, loc: Location) -> int:
    """The line of the key, or of the nearest enclosing node that exists."""
    line = node.start_mark.line + 1 if node else 1
    for step in loc:
        if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
            line = node.start_mark.line + 1
        elif isinstance(node, yaml.MappingNode):
            pairs = [(key, value) for key, value in node.value if key.value == step]
            if not pairs:
                break
            line, node = pairs[0][0].start_mark.line + 1, pairs[0][1]
    return line


MAX_PATTERN = 200
_PATTERN_HINT = "Write SERVER:TOOL; * matches any number of characters, ? matches one."
Place = Callable[[Location], str]


def _pattern(text: str) -> str:
    if "[" in text or "]" in text:
        raise refusal(f"is {text!r:.80}; brackets are not allowed", _PATTERN_HINT)
    if len(text) > MAX_PATTERN:
        raise refusal(f"is longer than {MAX_PATTERN} characters", _PATTERN_HINT)
    if ":" not in text and not text.startswith("*") and not text.endswith("*"):
        raise refusal(f"is {text!r:.80}, which cannot match a tool id", _PATTERN_HINT)
    return text


_Pattern = Annotated[
    str, AfterValidator(not_empty), AfterValidator(_pattern), Field(description=_PATTERN_HINT)
]
_Patterns = Annotated[list[_Pattern], Field(description="Write a list of patterns, such as crm:find_*.")]
_Name = Annotated[str, AfterValidator(not_empty), Field(description="Give it a name.")]


class _User(NullAsAbsent):
    roles: Annotated[list[_Name], Field(description="Write a list of the organisation's roles.")] = Field(
        default_factory=list
    )
    tools: _Patterns = Field(default_factory=list)


class _Organisation(NullAsAbsent):
    tools: _Patterns = Field(default_factory=list)
    roles: dict[_Name, _Patterns] = Field(default_factory=dict)
    users: dict[_Name, _User] = Field(default_factory=dict)


class _File(NullAsAbsent):
    organisations: Annotated[
        dict[_Name, _Organisation], Field(min_length=1, description="List at least one organisation by name.")
    ]
    experts: dict[_Name, _Patterns] = Field(default_factory=dict)
    always_include: dict[_Name, _Patterns] = Field(default_factory=dict)


def load_policy(path: Path) -> AccessPolicy:
    """The policy in a file. Raises ConfigError that names the file, the line and the key."""
    data, place = load_yaml(path, "policy")
    model = validated(_File, {} if data is None else data, place)
    users: dict[str, User] = {}
    grants: list[Grant] = []
    for name, organisation in model.organisations.items():
        for user in _members(name, organisation, place):
            if user.name in users:
                _refuse_second(user, users[user.name], place)
            users[user.name] = user
        grants += _grants(name, organisation)
    experts, pinned = (
        {name: tuple(patterns) for name, patterns in table.items()}
        for table in (model.experts, model.always_include)
    )
    for name in (name for name in pinned if name not in experts):
        loc: Location = ("always_include", name)
        hint = meant(name, tuple(experts)) or "Add it to the experts, or remove it here."
        raise ConfigError(f"{place(loc)}: {_shown(loc)}: there is no expert {name}", hint=hint)
    return AccessPolicy(users, tuple(grants), experts, pinned)


def _members(name: str, organisation: _Organisation, place: Place) -> Iterator[User]:
    """The users of an organisation. Raises ConfigError for a role that it does not have."""
    roles = tuple(organisation.roles)
    for user, entry in organisation.users.items():
        for index, role in enumerate(entry.roles):
            if role not in organisation.roles:
                loc: Location = ("organisations", name, "users", user, "roles", index)
                hint = meant(role, roles) or f"Add the role to {name}, or remove it here."
                raise ConfigError(f"{place(loc)}: {_shown(loc)}: {name} has no role {role}", hint=hint)
        yield User(user, name, tuple(dict.fromkeys(entry.roles)))


def _grants(name: str, organisation: _Organisation) -> Iterator[Grant]:
    """What an organisation grants: to all, to each role, to each user; nothing to who gets nothing."""
    holders: list[tuple[Scope, str, list[str]]] = [(Scope.ORGANISATION, name, organisation.tools)]
    holders += [(Scope.ROLE, role, patterns) for role, patterns in organisation.roles.items()]
    holders += [(Scope.USER, user, entry.tools) for user, entry in organisation.users.items()]
    for scope, holder, patterns in holders:
        if patterns:
            yield Grant(scope, holder, name, tuple(dict.fromkeys(patterns)))


def _refuse_second(user: User, first: User, place: Place) -> None:
    loc: Location = ("organisations", user.organisation, "users", user.name)
    raise ConfigError(
        f"{place(loc)}: {_shown(loc)} is already a user of {first.organisation}",
        hint="User names must be unique across all organisations.",
    )


def _shown(loc: Location) -> str:
    shown = ""
    for step in loc:
        shown = f"{shown}[{step}]" if isinstance(step, int) else dotted(shown, step)
    return shown
