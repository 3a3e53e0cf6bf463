-- +goose Up
-- What people were told, or are to be told: for each sink the gaps (state is what was seen of it) and the messages (pending, told,
-- given_up, or quiet: there was nothing to tell). Sink '' holds what is the matter by itself: on, or over.
CREATE TABLE alerts (
    sink    text NOT NULL,
    key     text NOT NULL,
    state   text NOT NULL,
    body    text NOT NULL DEFAULT '', -- of a pending message, JSON
    tried   bigint NOT NULL DEFAULT 0,
    problem text NOT NULL DEFAULT '',
    made_at timestamptz NOT NULL,
    due_at  timestamptz NOT NULL,
    told_at timestamptz,
    PRIMARY KEY (sink, key)
);
CREATE INDEX alerts_due ON alerts (due_at) WHERE state = 'pending';

-- When an account's last genuine callback came, to within half a minute.
CREATE TABLE heard (
    account text PRIMARY KEY,
    at      timestamptz NOT NULL
);

-- Orders by their age. They are written in that order, so this costs a page in a hundred thousand orders and nothing when one moves.
CREATE INDEX orders_age ON orders USING brin (created_at);

-- +goose Down
DROP INDEX orders_age;
DROP TABLE heard, alerts;
