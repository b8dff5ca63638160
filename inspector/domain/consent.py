"""What a configuration would start, shown to the user before consent."""

from dataclasses import dataclass
from typing import Final

from inspector.domain.configuration import Configuration

_PREDICATES = "predicates (Python)"
_DIGEST_DIGITS = 12


TRUSTED: Final = "what it says only reads is called without asking"


@dataclass(frozen=True, slots=True)
class ServerConsent:
    """One server: its exact command line and folder, or its URL; variable names, never their values.

    With `trusted`, tools that the server says only read are called without asking. For the predicates file
    instead of a server, `executes` is its path and `digest` the start of its SHA-256.
    """

    name: str
    argv: tuple[str, ...] = ()
    cwd: str = ""
    env_names: tuple[str, ...] = ()
    url: str = ""
    header_names: tuple[str, ...] = ()
    trusted: bool = False
    executes: str = ""
    digest: str = ""


def describe(configuration: Configuration) -> tuple[ServerConsent, ...]:
    """What consent would allow, server by server; the Python file to be executed comes last."""
    servers = tuple(
        ServerConsent(
            name=spec.name,
            argv=() if spec.is_http else spec.argv,
            cwd=spec.cwd,
            env_names=tuple(sorted(spec.env)),
            url=spec.url,
            header_names=tuple(sorted(spec.headers)),
            trusted=spec.trust_annotations,
        )
        for spec in configuration.servers
        if not spec.lacks
    )
    if not configuration.predicates:
        return servers
    digest = configuration.predicates_digest[:_DIGEST_DIGITS]
    return (*servers, ServerConsent(_PREDICATES, executes=configuration.predicates, digest=digest))
