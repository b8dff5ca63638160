"""What every event of a session is."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened. `kind` names its type in the store and on the screen."""

    kind: ClassVar[str] = ""
