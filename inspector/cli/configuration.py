"""Which configuration a command runs on, and what its options make of it: a policy, settings, files."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from inspector.access.restriction import AccessControl, OpenedConfiguration
from inspector.cli.consent import require_consent
from inspector.cli.location import (
    configuration_path,
    database_path,
    demo_folder,
    demo_path,
    fixtures_path,
    given_inputs,
    remember_source,
)
from inspector.cli.options import Options
from inspector.cli.run import FOUND_IN_FOLDER
from inspector.config.configuration import Configuration, Named
from inspector.config.file import is_file
from inspector.config.predicate import digest
from inspector.config.reader import REQUESTS, read, requests_beside, typed_configuration
from inspector.config.setting import anchored
from inspector.core.error import ConfigError
from inspector.core.server import ServerSpec, is_registered
from inspector.core.settings import SERVED, DiscoverySettings, Settings
from inspector.core.text import did_you_mean
from inspector.features.feature_list import FEATURES
from inspector.loop.settings_check import Policy
from inspector.store.server_memory import SqliteServerMemory

if TYPE_CHECKING:
    from inspector.session.server_change import StoredTools

_POLICY, _SKILLS = "access.policy", "discovery.skills"
_CHANGES, _TELL = "consent.changed_files", "tell"


def read_configuration(options: Options, *, may_be_empty: bool = False) -> OpenedConfiguration:
    """The server that was typed, or the configuration file, as the person who is named sees it.

    Without a server the file is an error, unless it `may_be_empty`. Consent is asked for before a policy that
    it names is read.
    Raises ConfigError, also if there is neither, or if it lacks a server that `--trust` names.
    """
    whole = whole_configuration(options, may_be_empty=may_be_empty)
    if any(one.setting == _POLICY for one in whole.named):
        with closing(SqliteServerMemory(database_path(options))) as memory:
            require_consent(whole, memory, approve=options.approve)
    return as_seen(whole, options)


def whole_configuration(options: Options, *, may_be_empty: bool = False) -> Configuration:
    """What `read_configuration` restricts to what a person sees: no file that it names is read yet."""
    remember_source(options)
    return with_chosen(_read(options, may_be_empty), options, own=fixtures_path())


def as_seen(whole: Configuration, options: Options) -> OpenedConfiguration:
    """The configuration under its policy, which is read; see `read_configuration`."""
    chosen = policy_of(whole, options).settings.access
    has_stored = any(map(is_registered, whole.servers))
    control = AccessControl(
        chosen, lambda sight: stored_tools(options).servers(sight, whole) if has_stored else None
    )
    opened = OpenedConfiguration(whole, control.sight)
    known = [spec.name for spec in opened.seen.servers]
    for name in options.trust:
        if name not in known:
            raise ConfigError(f"--trust {name}: no such server", hint=did_you_mean("Servers", name, known))
    return opened


def _read(options: Options, may_be_empty: bool) -> Configuration:
    if options.demo:
        return demo_configuration(demo_folder())
    if options.registry:
        return _stored_configuration(options)
    if options.server:
        return typed_configuration(options.server, environment=os.environ, inputs=given_inputs(options))
    path = configuration_path(options)
    if path is None and options.values.get(_SKILLS):
        discovery = DiscoverySettings(enabled=True, defer_all=True)
        return Configuration(str(Path.cwd()), (), settings=Settings(discovery=discovery), trusted=True)
    if path is None:
        raise ConfigError(
            "no server or configuration given, and this folder has no configuration",
            hint="Pass a server (`toolsight -- python server.py`) or a file (--config), or try "
            "`toolsight demo`. "
            f"Looked for: {', '.join(FOUND_IN_FOLDER)}.",
        )
    try:
        return read(path, environment=os.environ, inputs=given_inputs(options), may_be_empty=may_be_empty)
    except ConfigError as error:
        # What is wrong may be in a part that this person may not see, and it is not known yet who that is.
        if options.names_viewer and is_file(path):
            hint = "Run it without a policy, or as the administrator, to see what is wrong."
            raise ConfigError(f"{path} cannot be read", hint=hint) from error
        raise


def is_the_demo(configuration: Configuration) -> bool:
    """Whether the servers are the demo's, whose data are Toolsight's own."""
    return configuration.trusted and configuration.source == str(demo_path())


def demo_configuration(state: Path) -> Configuration:
    """The shipped demo servers, with their data in the folder `state`. Toolsight's own, so it is trusted."""
    fixtures = fixtures_path()
    variables: Mapping[str, str] = {
        "TOOLSIGHT_PYTHON": sys.executable,
        "TOOLSIGHT_FIXTURES": str(fixtures),
        "TOOLSIGHT_STATE": str(state),
    }
    configuration = read(demo_path(), environment=os.environ, variables=variables)
    return replace(
        configuration, trusted=True, servers=tuple(replace(spec, files=()) for spec in configuration.servers)
    )


def policy_of(configuration: Configuration, options: Options) -> Policy:
    """The settings in force; files named on the command line are those of the current folder."""
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    return Policy(configuration, profile=options.profile, values=values)


def with_chosen(configuration: Configuration, options: Options, *, own: Path) -> Configuration:
    """Add what the settings bring to what needs consent. Raises ConfigError.

    That is the predicate file with its digest, what else they name, whether changed files ask again, and the
    folder that servers may learn. Files in the folder `own` are Toolsight's own: nobody is asked about them.
    """
    chosen = policy_of(configuration, options).settings
    path = chosen.access.predicates
    found = digest(Path(path)) if path else ""
    named = tuple(_named(configuration, chosen, found, options, own.resolve()))
    return replace(
        configuration,
        servers=_with_skills(configuration.servers, chosen.discovery.skills),
        tells_changes=chosen.consent.changed_files == _TELL,
        client=chosen.client,
        folders=_folders(configuration, options),
        predicates=path,
        predicates_digest=found,
        named=named,
        requests=_requests(configuration),
    )


def _with_skills(servers: tuple[ServerSpec, ...], places: Sequence[str]) -> tuple[ServerSpec, ...]:
    """The servers, with their skills if these are wanted, and a stand-in for each folder of skills."""
    listed = tuple(replace(spec, skills=True) for spec in servers) if SERVED in places else servers
    folders = [place for place in places if place != SERVED]
    taken = {spec.name for spec in servers}
    free = (name for name in chain(["skills"], map("skills-{}".format, count(2))) if name not in taken)
    return (
        *listed,
        *(
            ServerSpec(name, listing=folder, skills=True, defer_loading=True, trust_annotations=True)
            for name, folder in zip(free, folders, strict=False)
        ),
    )


def _requests(configuration: Configuration) -> str:
    """The file of requests for the servers; what is noted of the demo's goes with the demo."""
    if is_the_demo(configuration):
        return str(demo_folder() / REQUESTS)
    # The servers of a file are others' as often as the person's own.
    return str(requests_beside(configuration.servers if configuration.trusted else ()))


def _named(
    configuration: Configuration, chosen: Settings, predicates: str, options: Options, own: Path
) -> Iterator[Named]:
    """What the configuration's file or a scenario names, and neither the person nor Toolsight itself."""
    files = [(_POLICY, chosen.access.policy), ("inertia.seed", chosen.inertia.seed)]
    files += [("marketplace.catalogs", catalog) for catalog in chosen.marketplace.catalogs]
    files += [("discovery.evaluation", requests) for requests in chosen.discovery.evaluation]
    files += [(_SKILLS, place) for place in chosen.discovery.skills if place != SERVED]
    typed = {**options.values, **({_POLICY: options.policy} if options.policy else {})}
    model = chosen.discovery.embedding_model
    if model not in ("packaged", "none") and "discovery.embedding_model" not in typed:
        yield Named("discovery.embedding_model", model)
    for setting, file in files:
        if file and setting not in typed and not Path(file).resolve().is_relative_to(own):
            yield Named(setting, file)
    if chosen.consent.changed_files == _TELL and _CHANGES not in typed:
        yield Named(_CHANGES, _TELL)
    if predicates and configuration.trusted and "access.predicates" not in typed:
        yield Named("access.predicates", chosen.access.predicates, predicates)


def _folders(configuration: Configuration, options: Options) -> tuple[str, ...]:
    """The folder that servers may learn.

    No question comes before a typed address, so it learns none unless the person types that, too: what a
    client declares, or a scenario sets, is not the person's own wish.
    """
    is_typed_address = configuration.trusted and any(spec.is_http for spec in configuration.servers)
    is_wanted = options.values.get("client.roots") is True
    return () if is_typed_address and not is_wanted else (str(Path.cwd()),)


def stored_tools(options: Options) -> "StoredTools":
    """The tools that are known without a connection."""
    stored: StoredTools = next(one.made(one.stores) for one in FEATURES if one.stores)(options)
    return stored


def _stored_configuration(options: Options) -> Configuration:
    """Their servers. Raises ConfigError if there are none and there is no policy, and StoreError."""
    configuration = stored_tools(options).configuration()
    # Who sees only some tools is told nothing of the others, not even that there are none.
    if not configuration.servers and not options.settings.get(_POLICY):
        hint = "Add some with `toolsight registry import`."
        raise ConfigError("the registry has no tools", hint=hint)
    return configuration
