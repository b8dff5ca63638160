"""A configuration, read, checked and expanded: servers, toolsets, settings, what a client declares."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field, to_builtins

from inspector.config.profile import DEFAULT_PROFILE
from inspector.core.access import Toolset
from inspector.core.argument_secret import Found, secrets_among, secrets_of_address
from inspector.core.error import ConfigError, SettingProblem
from inspector.core.secret_value import is_secret, looks_secret
from inspector.core.server import ConsentItem, ServerSpec, item_id
from inspector.core.settings import ClientCapabilities, DiscoverySettings, Settings
from inspector.core.text import closest

HIDDEN = "***"
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")


def target(spec: ServerSpec) -> str:
    """The command line, URL or file, for people: without passwords, keys and values of secret options."""
    if spec.listing:
        return spec.listing
    if spec.is_http:
        [address] = _hidden([spec.shown_url], secrets_of_address(spec.shown_url))
        return re.split(r"[?#]", address, maxsplit=1)[0]
    return " ".join(without_secrets(spec.shown_argv))


def without_secrets(words: Sequence[str]) -> list[str]:
    """The words of a command with `HIDDEN` for what is secret in them."""
    return _hidden(words, secrets_among(words))


def _hidden(words: Sequence[str], found: Iterable[Found]) -> list[str]:
    shown = list(words)
    last = (len(shown), 0)
    for index, start, end, name in sorted(found, reverse=True):
        if (index, end) > last:
            continue  # It overlaps another one.
        if looks_secret(name) or is_secret(name, words[index][start:end]):
            shown[index] = shown[index][:start] + HIDDEN + shown[index][end:]
            last = (index, start)
    return [_USER_INFO.sub("", word) for word in shown]


_SECTION = "client"


def setting_values(client: ClientCapabilities) -> dict[str, Any]:
    """The settings by path that declare exactly this."""
    return {f"{_SECTION}.{name}": value for name, value in to_builtins(client).items()}


def is_about_client(path: str) -> bool:
    """Whether a setting decides what is declared, so that servers have to be connected anew."""
    return path.partition(".")[0] == _SECTION


_TASKS: Final = "io.modelcontextprotocol/tasks"


def protocol_form(client: ClientCapabilities, *, is_modern: bool = False) -> dict[str, Any]:
    """The `capabilities` of an `initialize` request, or of `_meta` under 2026-07-28, which has extensions."""
    modes: Mapping[str, bool] = {"form": client.forms, "url": client.links}
    elicitation: dict[str, Any] = {mode: {} for mode, is_declared in modes.items() if is_declared}
    form: dict[str, Any] = {}
    if client.roots:
        form["roots"] = {}
    if elicitation:
        form["elicitation"] = elicitation
    if client.sampling:
        form["sampling"] = {}
    if client.tasks and is_modern:
        form["extensions"] = {_TASKS: {}}
    return form


def in_words(client: ClientCapabilities) -> tuple[str, ...]:
    """What is declared, a capability a text, in the words of what a server says of itself."""
    modes = [mode for mode, is_declared in (("form", client.forms), ("url", client.links)) if is_declared]
    named = (
        ("roots", client.roots),
        (f"elicitation ({', '.join(modes)})", bool(modes)),
        ("sampling", client.sampling),
        ("tasks (since 2026-07-28)", client.tasks),
    )
    return tuple(text for text, is_declared in named if is_declared)


class Named(Struct, frozen=True):
    """What a file's settings name beside its servers: a model to fetch, a file to read or to execute."""

    setting: str
    text: str
    digest: str = ""


class Configuration(Struct, frozen=True):
    """`source` is the file it came from; `trusted` is true only for the bundled demo.

    `settings` holds the defaults and the file's `tool_discovery`, the base below the profile's values;
    `values` holds the file's `settings` by path, which override the profile. `predicates` is the absolute
    path of a Python file that would be executed, `predicates_digest` the SHA-256 of its content when it was
    read. `disabled` names the servers that the file has, but turns off. `client` is what is declared to every
    server, and `folders` the absolute paths that those may learn to which roots
    are declared. With `tells_changes` a changed file of the person's own in the configuration's folder needs
    no new consent. `named` is what its settings or a scenario's name, which needs consent even where the
    servers are trusted. `problems` are the keys of its servers that mean nothing. `requests` is the file of
    requests beside the servers, whether it is there or not; "" for who may see only some tools.
    """

    source: str
    servers: tuple[ServerSpec, ...]
    toolsets: Mapping[str, Toolset] = field(default_factory=dict)
    settings: Settings = field(default_factory=Settings)
    trusted: bool = False
    profile: str = DEFAULT_PROFILE
    values: Mapping[str, Any] = field(default_factory=dict)
    predicates: str = ""
    predicates_digest: str = ""
    disabled: tuple[str, ...] = ()
    client: ClientCapabilities = ClientCapabilities()
    folders: tuple[str, ...] = ()
    tells_changes: bool = False
    named: tuple[Named, ...] = ()
    problems: tuple[SettingProblem, ...] = ()
    requests: str = ""

    def consent_items(self) -> tuple[ConsentItem, ...]:
        """Everything that a person has to approve, one by one: what is left of it later needs no new consent.

        Changing any command, argument, folder or variable of a server makes another item of it. So does
        another file found for its command, and another variable of the person's own that is handed over. Two
        more items are trusting a server, which lets its tools be called without asking, and letting one learn
        the folder. One changed byte of the predicates file, which is executed, makes another item of that.
        """
        named = (ConsentItem(item_id(one.setting, one.text, one.digest)) for one in self.all_named)
        return (*self._server_items(), *named)

    @property
    def all_named(self) -> tuple[Named, ...]:
        """`named`, with the predicates that the person's own file has or that were typed for it."""
        if self.trusted or not self.predicates:
            return self.named
        return (Named("access.predicates", self.predicates, self.predicates_digest), *self.named)

    def _server_items(self) -> Iterator[ConsentItem]:
        for spec in self.servers:
            # Of a folder of skills nothing is started: what names it is asked about.
            if self.trusted or spec.lacks or spec.is_skills:
                continue
            yield ConsentItem(spec.consent_id, spec.name, spec.files)
            if spec.trust_annotations:
                yield ConsentItem(item_id("trusted", spec.consent_id))
            if self.folders_for(spec):
                yield ConsentItem(item_id("roots", spec.consent_id))

    def folders_for(self, spec: ServerSpec) -> tuple[str, ...]:
        """The folders that a server may learn: what the person agreed to, whatever is declared later."""
        is_asked = not spec.listing and self.client.roots
        return self.folders if is_asked else ()

    def toolset(self, name: str) -> Toolset | None:
        """The toolset of that name, or None for "", which permits everything. Raises ConfigError."""
        if name and name not in self.toolsets:
            near = ", ".join(closest(name, list(self.toolsets)) or tuple(self.toolsets)) or "none configured"
            raise ConfigError(f"there is no toolset '{name}'", hint=f"Toolsets: {near}.")
        return self.toolsets.get(name)

    def deferred_servers(self, discovery: DiscoverySettings) -> frozenset[str]:
        """The servers whose tools are deferred; `defer_all` overrides the per-server switch."""
        if not discovery.enabled:
            return frozenset()
        return frozenset(spec.name for spec in self.servers if discovery.defer_all or spec.defer_loading)
