"""The command line that starts a package, as its registry's own runtime is called."""

import re
from collections.abc import Sequence

from inspector.core.package_run import PackageKind

_PIN = {PackageKind.NPM: "@", PackageKind.PYPI: "@", PackageKind.OCI: ":"}
# A colon before a slash belongs to a registry's port.
_TAGGED = re.compile(r"@|:[^/]*$")
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
    """The command and its arguments; `options` are for the runtime, `env` the variables it passes on.

    An image that has a tag or digest keeps it.
    """
    pinned = identifier
    if version and not (kind is PackageKind.OCI and _TAGGED.search(identifier)):
        pinned += f"{_PIN[kind]}{version}"
    before: tuple[str, ...] = ()
    if kind is PackageKind.NPM:
        before = () if "-y" in options or "--yes" in options else ("-y",)
    elif kind is PackageKind.OCI:
        passed = tuple(word for name in env for word in ("-e", name))
        before = ("run", "-i", "--rm", *passed)
    return RUNTIMES[kind], (*before, *options, pinned, *args)
