"""The story of `agent_transcript`, imported."""

from inspector.cli.agents import MachineLibrary
from inspector.cli.options import Options
from inspector.clients.importing import Importer
from inspector.clients.transcript_file.reader import Format, line_reader
from inspector.core.events import Record
from inspector.core.ports import EventStore
from inspector.store.memory import MemoryStore
from tests.support.agent_transcript import story
from tests.support.counting import WordCounter


class StoreLibrary(MachineLibrary):
    """The library over any store."""

    def __init__(self, store: EventStore) -> None:
        super().__init__(Options())
        self._store = store


def story_store() -> MemoryStore:
    """A store with the story as a session."""
    store, reader = MemoryStore(), line_reader(Format.CLAUDE_CODE)
    run = Importer(store, lambda _: WordCounter()).follow(file="story.jsonl")
    for line in story():
        for entry in reader.feed(line.encode()):
            run.take(entry)
    for entry in reader.finish():
        run.take(entry)
    run.close()
    return store


def records_of(store: EventStore) -> list[Record]:
    """The records of a store's only session."""
    [session] = store.sessions()
    return store.read(session.id)
