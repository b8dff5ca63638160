"""The ways to begin a session."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opens:
    """What to open: a configuration file, a server's words, or the demo."""

    config: str = ""
    server: tuple[str, ...] = ()
    demo: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """A way to begin, for people: its kind, its title, its servers, and what is known of their tools."""

    kind: str
    title: str
    servers: str
    known: str
    opens: Opens
