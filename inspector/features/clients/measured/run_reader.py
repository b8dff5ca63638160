"""Every fact that a conversation which has ended shows."""

from inspector.features.clients.measured import reading_calls, reading_tools
from inspector.features.clients.measured.conversation import Conversation
from inspector.features.clients.measured.reading import Reading


def read_run(conversation: Conversation, version: str = "") -> Reading:
    """What it shows; `version` is that of the client's program, "" for what it calls itself.

    Raises ProtocolError if the model was never given a tool, or no server was asked for its tools.
    """
    reading = Reading(conversation, version)
    for part in (*reading_tools.PARTS, *reading_calls.PARTS):
        reading.facts += part(reading)
    return reading
