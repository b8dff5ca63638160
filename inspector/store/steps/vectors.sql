CREATE TABLE vector (
    model TEXT NOT NULL,
    key BLOB NOT NULL,         -- the hash of the embedded text
    vector BLOB NOT NULL,      -- float32, little-endian
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
