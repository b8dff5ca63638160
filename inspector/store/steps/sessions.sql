CREATE TABLE session (
    id TEXT PRIMARY KEY,
    started_at REAL NOT NULL,  -- seconds since 1970, UTC
    ended_at REAL NOT NULL,    -- the newest event so far
    config TEXT NOT NULL DEFAULT '',
    model TEXT NOT NULL DEFAULT ''
);
CREATE INDEX session_by_start ON session(started_at);
CREATE TABLE event (
    session TEXT NOT NULL REFERENCES session(id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,      -- from 1 within a session
    at REAL NOT NULL,          -- seconds since 1970, UTC
    kind TEXT NOT NULL,
    server TEXT,               -- where the event is about one
    tool TEXT,                 -- server:tool, where the event is about one
    payload TEXT NOT NULL,     -- the event's fields as JSON
    PRIMARY KEY (session, seq)
);
CREATE INDEX event_by_kind ON event(session, kind);
