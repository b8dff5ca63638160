CREATE TABLE token_lengths (
    tokenizer TEXT NOT NULL,
    text BLOB NOT NULL,        -- SHA-256 of the text
    lengths BLOB NOT NULL,     -- the bytes of each token, as 16 bit numbers of this machine
    UNIQUE (tokenizer, text)
);
