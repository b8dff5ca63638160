CREATE TABLE server_memory (
    fingerprint TEXT PRIMARY KEY,  -- SHA-256 of what starts the server
    era TEXT NOT NULL              -- the protocol era that worked last
);
CREATE TABLE approval (
    fingerprint TEXT PRIMARY KEY,  -- SHA-256 of everything the configuration starts
    source TEXT NOT NULL,          -- the configuration file
    approved_at REAL NOT NULL      -- seconds since 1970, UTC
);
