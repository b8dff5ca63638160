"""What a marketplace offers, what a search there suggests, and what a model reads of it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from inspector.core.error import ConfigError
from inspector.core.number import money, percent
from inspector.core.package_run import PackageKind, package_run
from inspector.core.ranking import Score, SearchReport
from inspector.core.server import ServerSpec
from inspector.core.text import first_sentence, one_line, shortened
from inspector.schema.json_value import JsonObject

# Semantic tool discovery, section 10.1. Nobody checks what a publisher says: all texts here are hostile.


@dataclass(frozen=True, slots=True)
class Origin:
    """The agent whose transcript a session was imported from.

    `session` is the agent's own name of it, `parent` that of the session that started it as a sub-agent.
    `file` is the transcript's name without its folder. `reading` is the version of the rules by which entries
    became events: what was imported by other rules is imported anew.
    """

    agent: str
    version: str = ""
    session: str = ""
    parent: str = ""
    file: str = ""
    reading: int = 0

    @property
    def label(self) -> str:
        """The agent and its version."""
        return f"{self.agent} {self.version}".strip()


_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]+")
_SERVER_NAME = 40
_REFERENCE = "${"
_PLACEHOLDER = re.compile(r"\{([A-Za-z0-9_.-]+)\}")


@dataclass(frozen=True, slots=True)
class Variable:
    """A value that the server wants. In an argument or address, `{name}` stands for one of the place text."""

    name: str
    description: str = ""
    required: bool = False
    secret: bool = False
    default: str = ""
    place: Literal["env", "header", "text"] = "env"


@dataclass(frozen=True, slots=True)
class PluginTool:
    """One tool of a plugin, as its publisher describes it."""

    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Permissions:
    """What the publisher says that the server reaches, in words; "" where nothing is said."""

    files: str = ""
    network: str = ""
    environment: str = ""


@dataclass(frozen=True, slots=True)
class Package:
    """What would be started: a `command` with `args`, or a `url`.

    `kind`, `identifier` and `version` are its publisher's words; what is run is in the command alone.
    `obstacle` says why it cannot be installed here, "" if it can.
    """

    kind: PackageKind
    identifier: str
    version: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    url: str = ""
    variables: tuple[Variable, ...] = ()
    obstacle: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.command, *self.args) if self.command else ()

    @property
    def label(self) -> str:
        """The package that the command runs, or that cannot be run here; "" for any other command."""
        if not self.command:
            return " ".join(filter(None, (self.kind, self.identifier, self.version)))
        run = package_run(self.argv)
        return run.label if run is not None else ""


@dataclass(frozen=True, slots=True)
class Plugin:
    """One entry of a catalog. `price` is in US dollars a month, `rating` from 0 to 5; None if nobody says.

    `publisher` is the organisation that says so itself, `origin` the catalog that the entry is from.
    """

    name: str
    description: str
    package: Package
    category: str = ""
    price: float | None = None
    rating: float | None = None
    publisher: str = ""
    origin: str = ""
    version: str = ""
    tools: tuple[PluginTool, ...] = ()
    permissions: Permissions = Permissions()

    @property
    def label(self) -> str:
        """The last part of its name, which registries put behind a namespace."""
        return self.name.rpartition("/")[2] or self.name

    def is_installed(self, specs: Collection[ServerSpec]) -> bool:
        """Whether a configured server is this one: by package, command line or address, not by its name."""
        return any(map(self._is, specs))

    def _is(self, spec: ServerSpec) -> bool:
        package = self.package
        if package.kind is PackageKind.REMOTE:
            return bool(package.url) and spec.url.rstrip("/") == package.url.rstrip("/")
        run = package_run(package.argv)
        if run is not None and run.name:
            return run.is_in(spec.argv, but=_is_open)
        if package.kind is PackageKind.MODULE and package.args:
            return _fits(package.args, spec.args)
        return bool(package.command) and _fits(package.argv, spec.argv)


def _fits(words: Sequence[str], others: Sequence[str]) -> bool:
    """Whether the others begin with these words, whatever stands for a value of a variable."""
    return len(words) <= len(others) and all(
        one == other or _is_open(one) for one, other in zip(words, others, strict=False)
    )


def _is_open(word: str) -> bool:
    return _PLACEHOLDER.search(word) is not None


def price_text(price: float | None) -> str:
    """The price for people: free, an amount a month, or "" if nobody says."""
    if price is None:
        return ""
    return "free" if price == 0 else f"{money(price, 2)}/month"


def rating_text(rating: float | None) -> str:
    """The rating out of five, or "" if nobody says."""
    return "" if rating is None else f"{rating:.1f}"


def server_name(plugin: Plugin, taken: Collection[str]) -> str:
    """A name for the plugin's server that no configured one has."""
    plain = _UNNAMEABLE.sub("-", plugin.label).strip("-")[:_SERVER_NAME] or "plugin"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def missing_values(plugin: Plugin, values: Mapping[str, str]) -> tuple[Variable, ...]:
    """The variables that have to be given and are not."""
    return tuple(
        one
        for one in plugin.package.variables
        if one.required and not (values.get(one.name, "").strip() or one.default)
    )


def server_entry(plugin: Plugin, values: Mapping[str, str]) -> JsonObject:
    """The entry of `mcpServers` that starts the plugin with these values of its variables, by name.

    Raises ConfigError if it cannot be installed, lacks a value, or has no variable of a given name.
    """
    package = plugin.package
    if package.obstacle:
        raise ConfigError(f"{plugin.name} cannot be installed: {package.obstacle}")
    _require_known(plugin, values)
    if missing := missing_values(plugin, values):
        names = ", ".join(one.name for one in missing)
        raise ConfigError(f"{plugin.name} needs {names}", hint=f"Specify it as {missing[0].name}=VALUE.")
    given = {one.name: values.get(one.name) or one.default for one in package.variables}
    texts = {one.name: given[one.name] for one in package.variables if one.place == "text"}
    env, headers = (
        {one.name: given[one.name] for one in package.variables if one.place == place and given[one.name]}
        for place in ("env", "header")
    )
    if package.kind is PackageKind.REMOTE:
        url = _filled(package.url, texts, values)
        return {"type": "http", "url": url, **({"headers": headers} if headers else {})}
    entry: JsonObject = {
        "command": package.command,
        "args": [_filled(argument, texts, values) for argument in package.args],
        **({"env": env} if env else {}),
    }
    return entry


def concealed_values(plugin: Plugin, values: Mapping[str, str], spec: ServerSpec) -> dict[str, str]:
    """What the server is passed of the person's own values for secret variables, by name.

    Of a reference to a variable of the person's, the words count that it became part of. A default is no
    secret: it is the catalog's word, which must not hide what is started.
    """
    package, found = plugin.package, dict[str, str]()
    for one in package.variables:
        value = values.get(one.name, "")
        if not one.secret or value == one.default:
            continue
        if _REFERENCE not in value:
            found[one.name] = value
            continue
        places = zip((*package.args, package.url), (*spec.args, spec.url), strict=False)
        became = [word for place, word in places if f"{{{one.name}}}" in place]
        became += [spec.env.get(one.name, ""), spec.headers.get(one.name, "")]
        found |= {f"{one.name}.{number}": word for number, word in enumerate(became)}
    return {name: value for name, value in found.items() if value and _REFERENCE not in value}


def _require_known(plugin: Plugin, values: Mapping[str, str]) -> None:
    known = [one.name for one in plugin.package.variables]
    for name in values:
        if name not in known:
            hint = f"Its variables: {', '.join(known)}." if known else "It has no variables."
            raise ConfigError(f"{plugin.name} has no variable {name}", hint=hint)


def _filled(text: str, values: Mapping[str, str], own: Mapping[str, str]) -> str:
    """The text with the values in place of their names; other braces stay as they are.

    Raises ConfigError if that makes a reference such as `${HOME}` that is in none of the person's `own`
    values: a catalog could ask for it in pieces.
    """
    filled = _PLACEHOLDER.sub(lambda found: values.get(found[1]) or found[0], text)
    meant = sum(
        own.get(found[1], "").count(_REFERENCE) for found in _PLACEHOLDER.finditer(text) if found[1] in values
    )
    if filled.count(_REFERENCE) > meant:
        raise ConfigError(
            f"{text} would become a reference to one of your variables ({_REFERENCE}…)",
            hint="Nothing was changed. If you want such a reference, write all of it in one value.",
        )
    return filled


_BRIEF = 120
_NAMED = 6
_NOT_CALLABLE = (
    "Not installed: you can neither call nor install these, and searching again does not load them. Only the "
    "user can install one; say so if one would help. What follows is what their publishers say:"
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A plugin that may serve a query, with what decides about it. Texts are the publisher's.

    `similarity` is how well its best text fits, 0 to 1; `matched` is the tool whose text that is, "" for the
    plugin's own description, and `score` that text's score with its parts.
    """

    plugin: str
    description: str
    category: str
    price: float | None
    rating: float | None
    publisher: str
    origin: str
    version: str
    tools: tuple[str, ...]
    similarity: float
    matched: str
    score: Score


@dataclass(frozen=True, slots=True)
class MarketplaceReport:
    """A search of the marketplace, best first. `considered` counts the plugins that were compared.

    `installed` counts those left out because they are configured already. `why` says why the search went on
    there. `probability` is how likely it is that any plugin fits, None if the ranker does not estimate it.
    """

    query: str
    suggestions: tuple[Suggestion, ...] = ()
    considered: int = 0
    installed: int = 0
    why: str = ""
    milliseconds: float = 0.0
    probability: float | None = None

    @property
    def text(self) -> str:
        """What a model reads: "" without suggestions, so that nothing is spent on nothing."""
        if not self.suggestions:
            return ""
        return "\n".join((_NOT_CALLABLE, *map(_line, self.suggestions)))


def why_further(report: SearchReport) -> str:
    """Why a search goes on in the marketplace (section 10); "" if it does not.

    Only a query does: what is asked for by name, or all that a server has, is no need that nobody serves.
    """
    if report.error or not report.request.query.strip():
        return ""
    return "" if report.results else "no tool fits"


def suggestion(plugin: Plugin, similarity: float, matched: str, score: Score) -> Suggestion:
    """What is suggested of a plugin."""
    return Suggestion(
        plugin.name,
        brief(plugin.description),
        plugin.category,
        plugin.price,
        plugin.rating,
        plugin.publisher,
        plugin.origin,
        plugin.version,
        tuple(tool.name for tool in plugin.tools),
        similarity,
        matched,
        score,
    )


def brief(description: str) -> str:
    """The first sentence of a description on one line, shortened."""
    return shortened(first_sentence(description) or one_line(description), _BRIEF)


def terms_text(price: float | None, rating: float | None, publisher: str) -> str:
    """Who publishes a plugin, what it costs and how it is rated, as far as anybody says."""
    rated = f"rated {rating_text(rating)} of 5" if rating is not None else ""
    return ", ".join(filter(None, (one_line(publisher), price_text(price), rated)))


def _line(one: Suggestion) -> str:
    terms = terms_text(one.price, one.rating, one.publisher)
    about = f" ({terms})" if terms else ""
    tools = f" Tools: {_names(one.tools)}." if one.tools else ""
    return f"- {one_line(one.plugin)}{about}, fits {percent(one.similarity)}: {one.description}{tools}"


def _names(tools: Sequence[str]) -> str:
    shown = ", ".join(map(one_line, tools[:_NAMED]))
    return f"{shown}, and {len(tools) - _NAMED} more" if len(tools) > _NAMED else shown
