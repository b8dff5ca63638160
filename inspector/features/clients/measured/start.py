"""How a client is given its model's address and its servers: by variables and files (`starts.toml`)."""

import json
import tomllib
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from msgspec import Struct, field

from inspector.clients.rule import written_table
from inspector.core.error import ConfigError
from inspector.tokens.accounting import tokenizer_folder

SLOW: Final = "MARKED_SLOW"
"""The variable that makes the servers have calls that take long."""
LOG: Final = "MARKED_LOG"
"""The variable that names the servers' log. All that a client starts has it, and is known by it."""
STARTS: Final[Mapping[str, Mapping[str, Any]]] = tomllib.loads(
    (files(__package__) / "starts.toml").read_text(encoding="utf-8")
)
"""The clients that can be started here, each with the command that `installs` it; others start by hand."""
ASKED: Final = "Call the tools of the server that you are given."
_SERVER = {"command": "{command}", "args": "{args}", "env": "{env}"}
_HTTP = {"type": "http", "url": "{url}"}


class Setting(Struct, frozen=True):
    """What a client is started with: a folder for all its files, its model's address, and its servers.

    `servers` are command lines by name, or with `over_http` an address each. All of them write to `log`; if
    `slow`, some calls take long. `wire` is the API to its model, if it can speak several. It is `asked` this.
    """

    folder: Path
    address: str
    servers: Mapping[str, tuple[str, ...]]
    log: Path
    model: str = ""
    slow: bool = True
    over_http: bool = False
    wire: str = ""
    asked: str = ASKED

    def entries(self, shape: Mapping[str, Any]) -> Mapping[str, Any]:
        """The servers as a client's configuration has them, by name."""
        env = {LOG: str(self.log), **({SLOW: "1"} if self.slow else {})}
        return {
            name: _filled(
                shape,
                {
                    "{name}": name,
                    "{line}": list(line),
                    "{command}": line[0],
                    "{url}": line[0],
                    "{args}": list(line[1:]),
                    "{env}": env,
                },
            )
            for name, line in self.servers.items()
        }

    @property
    def servers_json(self) -> str:
        """A configuration of servers as most clients read it."""
        return json.dumps({"mcpServers": self.entries(_SERVER)}, indent=2)

    @property
    def openai(self) -> str:
        """The address for those that do not add /v1 themselves."""
        return f"{self.address}/v1"


class Start(Struct, frozen=True):
    """A command line, the variables that it needs, and the files to write before, by paths in the folder.

    A program that `is_persons` runs where the person is and with their variables, but for their secrets.
    """

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)
    is_persons: bool = False


def _wire(name: str, setting: Setting) -> Mapping[str, str]:
    """What the API makes different that a client is to speak to its model: variables, and `{places}`.

    Without one it goes by the model, or is the first. Raises ConfigError for one that it does not speak.
    """
    wires: Mapping[str, Mapping[str, str]] = STARTS[name].get("by_wire", {})
    by_model = STARTS[name].get("by_model", {}).items()
    own = next((wire for begins, wire in by_model if setting.model.startswith(begins)), next(iter(wires), ""))
    chosen = setting.wire or own
    if chosen and chosen not in wires:
        hint = f"Choose from: {', '.join(wires)}." if wires else "Leave --wire out: it speaks one API here."
        raise ConfigError(f"{name} is not known to speak {chosen} to its model", hint=hint)
    return wires.get(chosen, {})


def client_start(name: str, setting: Setting) -> Start:
    """How a client of `STARTS` is started. Raises ConfigError for an API that it is not known to speak."""
    how, wire = STARTS[name], _wire(name, setting)
    shape = how.get("http", _HTTP) if setting.over_http else how.get("server", _SERVER)
    entries = dict(setting.entries(shape))
    entries |= {name: {**entries[name], **how.get("first", {})} for name in list(entries)[:1]}
    values = {
        "{asked}": setting.asked,
        "{address}": setting.address,
        "{openai}": setting.openai,
        "{model}": setting.model or how.get("model", "stand-in"),
        "{folder}": str(setting.folder),
        "{tokenizers}": str(tokenizer_folder() or setting.folder),
        "{names}": ",".join(setting.servers),
        "{allowed}": ",".join(f"mcp__{name}" for name in setting.servers),
        "{servers}": entries,
        "{server list}": list(entries.values()),
    }
    values |= {place: _filled(text, values) for place, text in wire.items() if place.startswith("{")}
    argv = [*how["argv"], *(how.get("model_argv", ()) if setting.model else ())]
    variables = {**how.get("variables", {}), **{key: text for key, text in wire.items() if key[0] != "{"}}
    written = {path: _written(path, _filled(data, values)) for path, data in how.get("files", {}).items()}
    return Start(tuple(_filled(argv, values)), _filled(variables, values), written)


def _filled(data: Any, values: Mapping[str, Any]) -> Any:
    """The data with these values in the places that are named for them, alone or within a text."""
    if isinstance(data, list):
        return [_filled(one, values) for one in data]
    if isinstance(data, dict):
        return {_filled(key, values): _filled(one, values) for key, one in data.items()}
    if data in values or not isinstance(data, str):
        return values.get(data, data)
    for place, value in values.items():
        data = data.replace(place, value) if isinstance(value, str) else data
    return data


def _written(path: str, data: Mapping[str, Any]) -> str:
    """A file in the format of its name. JSON is YAML, too, but for its escapes of rare characters."""
    if path.endswith(".toml"):
        return "\n".join(written_table("", data))
    return json.dumps(data, indent=2, ensure_ascii=False)
