"""What clients make of one server's entry in their files: the keys they read, the values they refuse."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from inspector.config.client_format import RULES, URLS
from inspector.core.text import closest, one_line, shortened
from inspector.schema.json_value import as_object

_LIKE = {"environment": "env", "arguments": "args", "cmd": "command", "uri": "url", "envs": "env"}
_NEAR, _LONGEST_KEY, _MOST_UNKNOWN = 0.8, 40, 10


@dataclass(frozen=True, slots=True)
class EntryForm:
    """What a client reads of a server's entry; entry_forms.toml explains the fields."""

    keys: frozenset[str]
    fault: str = ""
    instead: Mapping[str, str] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    joined: bool = False


def _forms() -> Iterator[tuple[str, EntryForm]]:
    text = (Path(__file__).parent / "entry_forms.toml").read_text(encoding="utf-8")
    for name, form in tomllib.loads(text).items():
        yield name, EntryForm(**{**form, "keys": frozenset(form["keys"].split())})


FORMS = dict(_forms())
_OTHERS = FORMS.pop("any other")
# Toolsight's own format has them too, and of them only `RULES` and those that turn a server off count.
CLIENT_KEYS = RULES.union(URLS, _OTHERS.keys, FORMS["Claude Code"].keys, FORMS["Gemini CLI"].keys)
# Whose file it is that keeps its servers there.
_OWNERS = {"mcp": "opencode", "mcp_servers": "Codex"}


def owner_of(section: str, client: str = "") -> str:
    """The client in `FORMS` whose entries a section has, if `client` does not say so; "" for any other."""
    named = client or _OWNERS.get(section, "")
    return named if named in FORMS else ""


def read_keys(client: str, entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a client reads of an entry; all of it if nobody has seen what it does."""
    form = FORMS.get(client)
    return entry if form is None else {key: value for key, value in entry.items() if key in form.keys}


@dataclass(frozen=True, slots=True)
class EntryFault:
    """What is wrong with an entry at a key, and what to write; `near` is the key that may be meant.

    With `loses`, its client has no server for it.
    """

    key: str
    text: str
    hint: str
    near: str = ""
    loses: bool = False


def entry_faults(client: str, entry: Mapping[str, Any], known: Iterable[str]) -> Iterator[EntryFault]:
    """The keys that nobody reads, the first ten of them, and the values that the client refuses."""
    form = FORMS.get(client)
    if form is not None:
        yield from _refused(client, form, entry)
    names = sorted(form.keys if form is not None else CLIENT_KEYS.union(known))
    odd = (key for key in entry if key not in names and not key.startswith(("_", "$", "//")))
    for key in islice(odd, _MOST_UNKNOWN):
        nearest = closest(key[:_LONGEST_KEY], names, limit=1, cutoff=_NEAR)
        like = (form.instead.get(key, "") if form is not None else "") or _LIKE.get(key, "")
        near = like if like in names else next(iter(nearest), "")
        hint = f"Did you mean `{near}`?" if near else f"{client or 'Its client'} ignores it."
        yield EntryFault(key, f"has the unknown key `{shortened(one_line(key), _LONGEST_KEY)}`", hint, near)


def _refused(client: str, form: EntryForm, entry: Mapping[str, Any]) -> Iterator[EntryFault]:
    """The values for which the client has no server."""

    def fault(key: str, told: str, hint: str) -> EntryFault:
        return EntryFault(key, f"{told}: {client} {form.fault}", hint, loses=True)

    command, kind = entry.get("command"), entry.get("type")
    if command is not None and isinstance(command, list) != form.joined:
        what, hint = ("one text", "a list with each word") if form.joined else ("a list", "the program alone")
        yield fault("command", f"has {what} as `command`", f"Write {hint}.")
    is_needed = kind is not None or any(key in entry for key in form.typed)
    if form.types and kind not in form.types and is_needed:
        meant = form.types[1] if "url" in entry else form.types[0]
        yield fault("type", "has no `type`" if kind is None else "has another `type`", f'Write "{meant}".')
    for key in ("env", "environment", "headers", "http_headers"):
        wrong = [name for name, value in as_object(entry.get(key)).items() if not isinstance(value, str)]
        if wrong and key in form.keys:
            name = shortened(one_line(str(wrong[0])), _LONGEST_KEY)
            yield fault(key, f"has `{key}.{name}` without quotes", "Put its value in quotes.")
