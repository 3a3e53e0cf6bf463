-- +goose Up
-- Statement files as they came, by their hash. The same bytes twice are one row; a corrected file is a further one.
CREATE TABLE archives (
    account    text NOT NULL,
    date       text NOT NULL,
    sha256     text NOT NULL,
    name       text NOT NULL,
    bytes      bigint NOT NULL,
    source     text NOT NULL,
    mark       text NOT NULL DEFAULT '',
    fetched_at timestamptz NOT NULL,
    seen_at    timestamptz NOT NULL,
    PRIMARY KEY (account, date, sha256)
);

-- How far the scheduled run of an account and day has come: any replica may make the next try.
CREATE TABLE fetches (
    account  text NOT NULL,
    date     text NOT NULL,
    tries    bigint NOT NULL,
    tried_at timestamptz NOT NULL,
    problem  text NOT NULL DEFAULT '',
    PRIMARY KEY (account, date)
);

-- +goose Down
DROP TABLE fetches, archives;
