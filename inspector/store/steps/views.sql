CREATE VIEW searches AS
SELECT session, seq, datetime(at, 'unixepoch') AS time,
    json_extract(payload, '$.by') AS by,
    json_extract(payload, '$.report.request.query') AS query,
    json_extract(payload, '$.report.request.server_name') AS server_name,
    json_extract(payload, '$.report.ranker') AS ranker,
    json_array_length(payload, '$.report.hits') AS scored,
    json_extract(payload, '$.report.hits[0].score.tool_id') AS best,
    json_extract(payload, '$.report.latency_ms') AS latency_ms,
    json_extract(payload, '$.report.error') AS error
FROM event WHERE kind = 'search';

CREATE VIEW calls AS
SELECT started.session, started.seq, datetime(started.at, 'unixepoch') AS time, started.server, started.tool,
    json_extract(started.payload, '$.by') AS by,
    json_extract(started.payload, '$.call_id') AS call_id,
    json_extract(started.payload, '$.arguments') AS arguments,
    json_extract(done.payload, '$.ok') AS ok,
    json_extract(done.payload, '$.milliseconds') AS milliseconds,
    json_extract(done.payload, '$.text') AS result
FROM event AS started
LEFT JOIN event AS done ON done.session = started.session AND done.seq = (
    SELECT min(result.seq) FROM event AS result
    WHERE result.session = started.session AND result.seq > started.seq AND result.kind = 'result'
        AND json_extract(result.payload, '$.call_id') = json_extract(started.payload, '$.call_id')
)
WHERE started.kind = 'call';

CREATE VIEW guards AS
SELECT session, seq, datetime(at, 'unixepoch') AS time, kind, tool,
    coalesce(json_extract(payload, '$.reason'), json_extract(payload, '$.guidance'),
        json_extract(payload, '$.note'), json_extract(payload, '$.decision')) AS why,
    payload
FROM event WHERE kind IN ('loop', 'redundant', 'reject', 'approval', 'evict');
