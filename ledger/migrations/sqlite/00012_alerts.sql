-- +goose Up
-- What people were told, or are to be told: for each sink the gaps (state is what was seen of it) and the messages (pending, told,
-- given_up, or quiet: there was nothing to tell). Sink '' holds what is the matter by itself: on, or over.
CREATE TABLE alerts (
    sink    TEXT NOT NULL,
    key     TEXT NOT NULL,
    state   TEXT NOT NULL,
    body    TEXT NOT NULL DEFAULT '', -- of a pending message, JSON
    tried   INTEGER NOT NULL DEFAULT 0,
    problem TEXT NOT NULL DEFAULT '',
    made_at TEXT NOT NULL,
    due_at  TEXT NOT NULL,
    told_at TEXT,
    PRIMARY KEY (sink, key)
) STRICT;
CREATE INDEX alerts_due ON alerts (due_at) WHERE state = 'pending';

-- When an account's last genuine callback came, to within half a minute.
CREATE TABLE heard (
    account TEXT PRIMARY KEY,
    at      TEXT NOT NULL
) STRICT;

-- Orders by their age.
CREATE INDEX orders_age ON orders (created_at);

-- +goose Down
DROP INDEX orders_age;
DROP TABLE heard;
DROP TABLE alerts;
