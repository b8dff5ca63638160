"""What the options of a command make of a configuration: a policy, settings, files to look up."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from inspector.cli.options import Options
from inspector.config.configuration import Configuration, Named
from inspector.config.predicate import digest
from inspector.config.setting import anchored
from inspector.core.settings import Settings
from inspector.loop.settings_check import Policy


def policy_of(configuration: Configuration, options: Options) -> Policy:
    """The settings in force; files named on the command line are those of the current folder."""
    values = {path: anchored(Path.cwd(), path, value) for path, value in options.settings.items()}
    return Policy(configuration, profile=options.profile, values=values)


def with_chosen(configuration: Configuration, options: Options, *, own: Path) -> Configuration:
    """Add what the settings bring to what needs consent. Raises ConfigError.

    That is the predicate file with its digest, what else they name, which changed files ask again, and the
    folder that servers may learn. Files in the folder `own` are Toolsight's own: nobody is asked about them.
    """
    chosen = policy_of(configuration, options).settings
    path = chosen.access.predicates
    found = digest(Path(path)) if path else ""
    named = tuple(_named(configuration, chosen, found, options, own.resolve()))
    servers = configuration.servers
    if chosen.consent.changed_files == "ask":
        servers = tuple(
            replace(spec, files=tuple(replace(file, asks=True) for file in spec.files)) for spec in servers
        )
    return replace(
        configuration,
        servers=servers,
        client=chosen.client,
        folders=_folders(configuration, options),
        predicates=path,
        predicates_digest=found,
        named=named,
    )


def _named(
    configuration: Configuration, chosen: Settings, predicates: str, options: Options, own: Path
) -> Iterator[Named]:
    """What the configuration's file or a scenario names, and neither the person nor Toolsight itself."""
    files = [("access.policy", chosen.access.policy)]
    files += [("marketplace.catalogs", catalog) for catalog in chosen.marketplace.catalogs]
    typed = {**options.values, **({"access.policy": options.policy} if options.policy else {})}
    model = chosen.discovery.embedding_model
    if model not in ("packaged", "none") and "discovery.embedding_model" not in typed:
        yield Named("discovery.embedding_model", model)
    for setting, file in files:
        if file and setting not in typed and not Path(file).resolve().is_relative_to(own):
            yield Named(setting, file)
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
