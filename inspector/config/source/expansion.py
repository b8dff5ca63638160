"""Expands `${…}` in a configuration's strings, as clients that share the format do.

| Form                                        | Value                                                        |
| ------------------------------------------- | ------------------------------------------------------------ |
| `${VAR}`, `${env:VAR}`                      | a built-in variable, else the environment; an error if unset |
| `${VAR:-text}`, `${env:VAR:-text}`          | the same, or `text` if unset                                 |
| `${input:id}`                               | a value given on the command line, or the input's default    |
| `${workspaceFolder}`, `${userHome}`, `${/}` | the project's folder, the home folder, the path separator    |

Values are not expanded again. Any other `${…}` stays unchanged: it belongs to the server's own shell.
"""

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from inspector.core.closest import closest
from inspector.core.error import ConfigError, MissingValue
from inspector.core.secret_value import looks_secret
from inspector.core.server import Expansion

_REFERENCE = re.compile(
    r"\$\{(?:(?P<kind>input|command|config|workspaceFolder):(?P<id>[\w.-]+)"
    r"|(?:env:)?(?P<name>[A-Za-z_]\w*|/)(?::-(?P<default>[^}]*))?)\}"
)
_EDITOR_FOLDERS = (".vscode", ".cursor")


@dataclass(frozen=True, slots=True)
class Scope:
    """Where values come from; `variables` take precedence over the environment. `folder` holds the file.

    `inputs` are those that the person gave, which take precedence over the file's own `input_defaults`;
    `passwords` names those that editors hide while they are typed.
    """

    folder: Path
    environment: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    input_defaults: Mapping[str, str] = field(default_factory=dict)
    input_descriptions: Mapping[str, str] = field(default_factory=dict)
    passwords: frozenset[str] = frozenset()

    @property
    def workspace(self) -> Path:
        """The project's folder: editors keep the file one folder below it."""
        return self.folder.parent if self.folder.name in _EDITOR_FOLDERS else self.folder

    def expand(self, text: str, where: str) -> str:
        """Replace every reference in the text. `where` names the server and the key in errors."""
        return _REFERENCE.sub(lambda match: self._value(match, where), text)

    def expansion(self, key: str, text: str) -> Expansion | None:
        """Which of the person's own variables the text contains; None if there is none.

        `key` is the place of the text in the server's entry. Raises ConfigError like `expand`.
        """
        own = dict.fromkeys(name for match in _REFERENCE.finditer(text) if (name := self._own(match)))
        if not own:
            return None
        shown = _REFERENCE.sub(
            lambda match: match[0] if self._is_secret(match) else self._value(match, key), text
        )
        return Expansion(key, tuple(own), shown)

    def secrets(self, text: str) -> dict[str, str]:
        """The values of the person's own that the text contains, which may be secret, by their names."""
        found: dict[str, str] = {}
        for match in _REFERENCE.finditer(text):
            if self._own(match):
                name = match["id"] or match["name"]
                # An input that is hidden while it is typed is one, whatever it is called.
                found[f"{name}.secret" if name in self.passwords else name] = self._value(match, "")
        return found

    def _own(self, match: re.Match[str]) -> str:
        """The person's own variable that a reference means; "" if it means anything else."""
        name = match["id"] if match["kind"] else match["name"]
        if match["kind"] == "input" and name in self.inputs:
            return f"input {name}"
        is_own = not match["kind"] and name in self.environment and name not in self.variables
        return name if is_own else ""

    def _is_secret(self, match: re.Match[str]) -> bool:
        return bool(self._own(match)) and looks_secret(match["id"] or match["name"])

    def _value(self, match: re.Match[str], where: str) -> str:
        if match["kind"]:
            return self._of_kind(match["kind"], match["id"], where)
        name, default = match["name"], match["default"]
        for known in (self.variables, self.environment):
            if name in known:
                return known[name]
        if name in _BUILT_IN:
            return _BUILT_IN[name](self)
        if default is None:
            message = f"{where}: the variable {name} is not set"
            raise MissingValue(message, name=name, hint=self._hint(name))
        return str(default)

    def _hint(self, name: str) -> str:
        near = closest(name, (*self.variables, *self.environment), limit=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        return f"{meant}Set {name} in the environment, or write ${{{name}:-a default}}."

    def _of_kind(self, kind: str, name: str, where: str) -> str:
        if kind == "workspaceFolder":
            return str(self.workspace)
        if kind == "input" and name in (known := {**self.input_defaults, **self.inputs}):
            return known[name]
        if kind == "input":
            what = self.input_descriptions.get(name)
            asked = f" ({what})" if what else ""
            raise MissingValue(
                f"{where}: the input {name}{asked} has no value",
                name=f"input {name}",
                hint=f"Pass --input {name}=VALUE, or set TOOLSIGHT_INPUT_{name} in the environment.",
            )
        raise ConfigError(
            f"{where}: only an editor can fill in ${{{kind}:{name}}}",
            hint="Write the value itself, or use ${VARIABLE} from the environment.",
        )


_BUILT_IN: Mapping[str, Callable[[Scope], str]] = {
    "workspaceFolder": lambda scope: str(scope.workspace),
    "workspaceFolderBasename": lambda scope: scope.workspace.name,
    "userHome": lambda scope: scope.environment.get("HOME", str(Path.home())),
    "pathSeparator": lambda _scope: os.sep,
    "/": lambda _scope: os.sep,
}
