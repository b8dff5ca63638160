ALTER TABLE approval ADD COLUMN version TEXT NOT NULL DEFAULT '';
CREATE TABLE approved_file (
    fingerprint TEXT NOT NULL, -- of what runs it, as in the table approval
    path BLOB NOT NULL,        -- as the file system has it
    digest TEXT NOT NULL,      -- SHA-256 of its content
    lines BLOB NOT NULL,       -- a script's: the CRC-32 of each line, as 32 bit numbers of this machine
    UNIQUE (fingerprint, path)
);
