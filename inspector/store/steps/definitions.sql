CREATE TABLE definitions (
    hash BLOB PRIMARY KEY, -- SHA-256 of the text
    text BLOB NOT NULL     -- JSON: what a server listed, with the hash of each tool; compressed by zlib
);
ALTER TABLE event ADD COLUMN definitions BLOB; -- their hash, where the event has some
ALTER TABLE event ADD COLUMN kept TEXT;        -- JSON: what a catalog has of an earlier one, see `store/part.py`
CREATE INDEX event_by_definitions ON event(definitions) WHERE definitions IS NOT NULL;
ALTER TABLE snapshot ADD COLUMN definitions BLOB; -- their hash, in place of the tools
CREATE INDEX snapshot_by_definitions ON snapshot(definitions);
CREATE TRIGGER definitions_after_event AFTER DELETE ON event WHEN old.definitions IS NOT NULL BEGIN
    DELETE FROM definitions WHERE hash = old.definitions
        AND NOT EXISTS (SELECT 1 FROM event WHERE definitions = old.definitions)
        AND NOT EXISTS (SELECT 1 FROM snapshot WHERE definitions = old.definitions);
END;
CREATE TRIGGER definitions_after_snapshot AFTER UPDATE OF definitions ON snapshot
WHEN old.definitions <> new.definitions BEGIN
    DELETE FROM definitions WHERE hash = old.definitions
        AND NOT EXISTS (SELECT 1 FROM event WHERE definitions = old.definitions)
        AND NOT EXISTS (SELECT 1 FROM snapshot WHERE definitions = old.definitions);
END;
