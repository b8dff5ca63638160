CREATE TABLE snapshot (
    fingerprint TEXT PRIMARY KEY,  -- SHA-256 of what starts the server
    listed_at REAL NOT NULL,       -- seconds since 1970, UTC
    summary TEXT NOT NULL,         -- JSON: what the server said of itself
    tools TEXT NOT NULL            -- JSON: the tools as the server listed them
);
