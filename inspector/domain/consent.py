"""What a configuration would start, as a person has to see it before saying yes."""

from dataclasses import dataclass

from inspector.domain.configuration import Configuration


@dataclass(frozen=True, slots=True)
class ServerConsent:
    """One server: the exact command line and folder, or the address; names of variables, not their values."""

    name: str
    argv: tuple[str, ...] = ()
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    url: str = ""
    header_names: tuple[str, ...] = ()


def describe(configuration: Configuration) -> tuple[ServerConsent, ...]:
    """What a yes would allow, server by server."""
    return tuple(
        ServerConsent(
            name=spec.name,
            argv=() if spec.is_http else spec.argv,
            cwd=spec.cwd,
            env_names=tuple(sorted(spec.env)),
            url=spec.url,
            header_names=tuple(sorted(spec.headers)),
        )
        for spec in configuration.servers
    )
