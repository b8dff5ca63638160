CREATE TABLE breaker (
    server TEXT NOT NULL,      -- SHA-256 of what starts the server
    tool TEXT NOT NULL,        -- JSON: the tool's name, "" for the server's own
    state TEXT NOT NULL,       -- JSON: the circuit breaker
    UNIQUE (server, tool)
);
