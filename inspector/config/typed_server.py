"""The configuration of one server that a person typed: a command, script, address or stored listing."""

import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from inspector.config.configuration import Configuration, target, without_secrets
from inspector.config.file import is_file, load_value
from inspector.config.format import SECTIONS
from inspector.config.reader import read
from inspector.core.error import ConfigError
from inspector.core.redaction import SECRETS, learn_environment
from inspector.core.server import ServerSpec
from inspector.core.settings import DiscoverySettings, Settings

_RUNNERS = {".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node", ".ts": "bun", ".rb": "ruby"}
_VERSION = re.compile(r"(?<=.)@.*$")
_NOTHING: Mapping[str, str] = {}
_UNFIT = re.compile(r"[^\w.-]+")


def names_a_server(words: Sequence[str]) -> bool:
    """Whether words without an option can only mean a server: an address, a file, or a command with words."""
    first = words[0]
    return _is_address(first) or is_file(Path(first)) or (len(words) > 1 and shutil.which(first) is not None)


def is_server(word: str) -> bool:
    """Whether a word that follows a command's own can only be a server: an address, a script, a listing."""
    path = Path(word)
    return _is_address(word) or (path.suffix in {*_RUNNERS, ".json", ".jsonl"} and is_file(path))


def typed_configuration(
    words: Sequence[str], *, environment: Mapping[str, str], inputs: Mapping[str, str] = _NOTHING
) -> Configuration:
    """The configuration that starts what the words name; who typed it has agreed to that.

    A JSON file is a stored answer to `tools/list`, or a client's configuration, for which `inputs` are the
    values of `${input:id}`. Raises ConfigError.
    """
    first = words[0]
    if len(words) == 1 and first.endswith((".json", ".jsonl")) and is_file(Path(first)):
        if _is_configuration(Path(first)):
            return read(Path(first), environment=environment, inputs=inputs)
        return _alone(ServerSpec(_name(Path(first).stem), listing=str(Path(first).absolute())))
    if len(words) == 1 and _is_address(first):
        return _alone(ServerSpec(_name(urlsplit(first).hostname or "server"), url=first))
    command = _command(words)
    learn_environment(environment)
    return _alone(
        ServerSpec(_name(_told(words)), command=command[0], args=command[1:], inherits_environment=True)
    )


def _alone(spec: ServerSpec) -> Configuration:
    SECRETS.learn(spec.secrets)
    # It is recorded with every session.
    source = shlex.join(without_secrets(spec.argv)) if spec.command else target(spec)
    settings = Settings(discovery=DiscoverySettings(enabled=True, defer_all=True))
    return Configuration(source, (spec,), settings=settings, trusted=True)


def _command(words: Sequence[str]) -> tuple[str, ...]:
    """The words, with what runs a script in front of it."""
    first, *rest = words
    path = Path(first)
    is_there = is_file(path)
    runner = _RUNNERS.get(path.suffix)
    if runner is not None and is_there:
        own = path.absolute().parent / ".venv" / "bin" / "python"
        return (str(own) if path.suffix == ".py" and own.exists() else runner, str(path.absolute()), *rest)
    if not is_there and shutil.which(first) is None:
        raise ConfigError(
            f"'{first}' is not a command, file or address",
            hint="Write a command that starts the server, like `toolsight -- python server.py`, or its URL.",
        )
    return (str(path.absolute()) if is_there else first, *rest)


def _told(words: Sequence[str]) -> str:
    """The word that distinguishes servers: the script, the package, or else the command."""
    others = [word for word in words if not word.startswith("-")]
    scripts = [word for word in others if Path(word).suffix in _RUNNERS]
    packages = [word for word in others[1:] if "/" in word or "-" in word]
    word = next(iter((*scripts, *packages, *others)))
    return Path(_VERSION.sub("", word)).name.removesuffix(Path(word).suffix if scripts else "")


def _name(text: str) -> str:
    return _UNFIT.sub("-", text).strip("-.") or "server"


def _is_address(word: str) -> bool:
    return word.startswith(("http://", "https://"))


def _is_configuration(path: Path) -> bool:
    if path.suffix == ".jsonl":
        return False
    value = load_value(path, "servers or tools", hint="It must contain a server's tools or a configuration.")
    return isinstance(value, dict) and any(isinstance(value.get(key), dict) for key in SECTIONS)
