CREATE TABLE registry_tool (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,   -- server:tool as UTF-8; a lone surrogate takes three bytes
    name TEXT NOT NULL,        -- the id as GLOB can match it, see registry_sight.py
    server BLOB NOT NULL,      -- as UTF-8
    is_there INTEGER NOT NULL, -- 0 for a tool that is gone; its versions stay
    version INTEGER NOT NULL,  -- the newest one
    origin BLOB NOT NULL,      -- where it came from, as UTF-8
    hash TEXT NOT NULL,        -- SHA-256 of the newest version's definition
    key BLOB NOT NULL          -- of the text whose vector is searched, as in the table vector
);
CREATE INDEX registry_tool_by_origin ON registry_tool(origin);
CREATE INDEX registry_tool_by_key ON registry_tool(key);
CREATE TABLE tool_version (
    tool INTEGER NOT NULL REFERENCES registry_tool(number),
    version INTEGER NOT NULL,  -- from 1
    origin BLOB NOT NULL,
    hash TEXT NOT NULL,
    at REAL NOT NULL,          -- when it was first seen, seconds since 1970, UTC
    definition TEXT NOT NULL,  -- JSON
    UNIQUE (tool, version)
);
-- Whether a text is embedded is asked more often than what its vector is.
CREATE INDEX vector_by_key ON vector(model, key);
CREATE TABLE registry_change (number INTEGER NOT NULL);
INSERT INTO registry_change VALUES (0);
CREATE TRIGGER registry_vector AFTER INSERT ON vector
WHEN EXISTS (SELECT 1 FROM registry_tool WHERE key = NEW.key)
BEGIN
    UPDATE registry_change SET number = number + 1;
END;
