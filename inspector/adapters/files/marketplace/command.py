"""The command line that starts a package, as its registry's own runtime is called."""

from collections.abc import Sequence

from inspector.domain.plugin import PackageKind

RUNTIMES = {PackageKind.NPM: "npx", PackageKind.PYPI: "uvx", PackageKind.OCI: "docker"}


def command_line(
    kind: PackageKind,
    identifier: str,
    version: str,
    *,
    options: Sequence[str] = (),
    args: Sequence[str] = (),
    env: Sequence[str] = (),
) -> tuple[str, tuple[str, ...]]:
    """The command and its arguments; `options` are for the runtime, `env` the variables it passes on."""
    pinned = f"{identifier}@{version}" if version and kind is not PackageKind.OCI else identifier
    before: tuple[str, ...] = ()
    if kind is PackageKind.NPM:
        before = () if "-y" in options or "--yes" in options else ("-y",)
    elif kind is PackageKind.OCI:
        passed = tuple(word for name in env for word in ("-e", name))
        before = ("run", "-i", "--rm", *passed)
    return RUNTIMES[kind], (*before, *options, pinned, *args)
