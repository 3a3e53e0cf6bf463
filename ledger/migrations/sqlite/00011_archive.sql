-- +goose Up
-- Statement files as they came, by their hash. The same bytes twice are one row; a corrected file is a further one.
CREATE TABLE archives (
    account    TEXT NOT NULL,
    date       TEXT NOT NULL,
    sha256     TEXT NOT NULL,
    name       TEXT NOT NULL,
    bytes      INTEGER NOT NULL,
    source     TEXT NOT NULL,
    mark       TEXT NOT NULL DEFAULT '',
    fetched_at TEXT NOT NULL,
    seen_at    TEXT NOT NULL,
    PRIMARY KEY (account, date, sha256)
) STRICT;

-- How far the scheduled run of an account and day has come: any replica may make the next try.
CREATE TABLE fetches (
    account  TEXT NOT NULL,
    date     TEXT NOT NULL,
    tries    INTEGER NOT NULL,
    tried_at TEXT NOT NULL,
    problem  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (account, date)
) STRICT;

-- +goose Down
DROP TABLE fetches;
DROP TABLE archives;
