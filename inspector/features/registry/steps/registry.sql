CREATE TABLE toolsight.version (
    id text COLLATE "C" NOT NULL,      -- server:tool
    version integer NOT NULL,          -- from 1 for each id
    origin text COLLATE "C" NOT NULL,
    hash text NOT NULL,                -- of the definition
    at double precision NOT NULL,      -- seconds since 1970, UTC
    definition text NOT NULL,          -- the tool as JSON in ASCII; jsonb takes no escaped NUL
    PRIMARY KEY (id, version)
);
CREATE TABLE toolsight.tool (          -- the tools there are now
    id text COLLATE "C" PRIMARY KEY,
    version integer NOT NULL,
    server text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    key bytea NOT NULL,                -- the hash of the text that is embedded
    FOREIGN KEY (id, version) REFERENCES toolsight.version
);
CREATE INDEX tool_by_key ON toolsight.tool (key);
CREATE INDEX tool_by_origin ON toolsight.tool (origin);
CREATE TABLE toolsight.model (
    number integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    dimensions integer NOT NULL,
    indexed boolean NOT NULL DEFAULT false,
    UNIQUE (name, dimensions)
);
CREATE TABLE toolsight.state (
    generation bigint NOT NULL         -- not used any more
);
INSERT INTO toolsight.state VALUES (0);
