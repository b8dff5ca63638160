"""The typed events of a session. One ordered stream of them records everything that happened.

The engine decides, emits an event and applies it to the session state; the store keeps it, the screens draw
it, and a replay folds the same stream into the same state. Each event is defined in the module of its
subject, with its text, groups and tone.
"""

# ruff: noqa: F403 (a new event needs no line here)

from collections.abc import Mapping

from inspector.core.events.base import (
    Actor as Actor,
    Event as Event,
    Group as Group,
    Record as Record,
    Tone as Tone,
)
from inspector.core.events.call import *
from inspector.core.events.discovery import *
from inspector.core.events.server import *
from inspector.core.events.session import *

EVENT_TYPES: Mapping[str, type[Event]] = {cls.kind: cls for cls in Event.__subclasses__()}
