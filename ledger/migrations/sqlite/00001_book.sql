-- +goose Up
-- Natural keys, ids made by the application, one unique key a table, no foreign keys between tables that a cluster may place
-- apart: the same rules as the PostgreSQL schema.
-- Times are UTC text that sorts as time: "2026-11-29 02:00:00.5+00:00".
CREATE TABLE orders (
    order_id            TEXT PRIMARY KEY,
    amount_minor        INTEGER NOT NULL CHECK (amount_minor >= 0),
    currency            TEXT NOT NULL,
    status              TEXT NOT NULL,
    version             INTEGER NOT NULL,
    refunded_minor      INTEGER NOT NULL DEFAULT 0,
    shipped             INTEGER NOT NULL DEFAULT 0,
    prior_status        TEXT NOT NULL DEFAULT '',
    stock               TEXT NOT NULL DEFAULT '',
    paid_account        TEXT NOT NULL DEFAULT '',
    paid_transaction_id TEXT NOT NULL DEFAULT '',
    expires_at          TEXT,
    created_at          TEXT NOT NULL,
    updated_at          TEXT NOT NULL
) STRICT;

CREATE TABLE transactions (
    account         TEXT NOT NULL,
    kind            TEXT NOT NULL,
    transaction_id  TEXT NOT NULL,
    provider_id     TEXT NOT NULL DEFAULT '',
    parent_id       TEXT NOT NULL DEFAULT '',
    order_id        TEXT NOT NULL DEFAULT '',
    refund_order_id TEXT NOT NULL DEFAULT '',
    amount_minor    INTEGER NOT NULL CHECK (amount_minor >= 0),
    currency        TEXT NOT NULL,
    payer_minor     INTEGER NOT NULL DEFAULT 0,
    refunded_minor  INTEGER NOT NULL DEFAULT 0,
    derived         INTEGER NOT NULL DEFAULT 0,
    status          TEXT NOT NULL,
    event           TEXT NOT NULL,
    outcome         TEXT NOT NULL,
    detail          TEXT NOT NULL DEFAULT '',
    source          TEXT NOT NULL,
    callback_id     TEXT NOT NULL DEFAULT '',
    occurred_at     TEXT NOT NULL,
    lost_at         TEXT,
    created_at      TEXT NOT NULL,
    updated_at      TEXT NOT NULL,
    -- the key is (account, kind, transaction_id); in this order one comparison tells two of them apart, and the usual one three
    PRIMARY KEY (transaction_id, account, kind)
) STRICT;
CREATE INDEX transactions_time ON transactions (account, occurred_at, transaction_id);
CREATE INDEX transactions_order ON transactions (order_id);
CREATE INDEX transactions_parked ON transactions (parent_id, account) WHERE outcome = 'no_order';

CREATE TABLE aliases (
    account        TEXT NOT NULL,
    kind           TEXT NOT NULL,
    alias          TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    PRIMARY KEY (alias, account, kind)
) STRICT;

CREATE TABLE transitions (
    order_id       TEXT NOT NULL,
    version        INTEGER NOT NULL,
    "from"         TEXT NOT NULL,
    "to"           TEXT NOT NULL,
    event          TEXT NOT NULL,
    account        TEXT NOT NULL DEFAULT '',
    kind           TEXT NOT NULL DEFAULT '',
    transaction_id TEXT NOT NULL DEFAULT '',
    at             TEXT NOT NULL,
    PRIMARY KEY (order_id, version)
) STRICT;

CREATE TABLE messages (
    order_id   TEXT NOT NULL,
    id         TEXT NOT NULL,
    topic      TEXT NOT NULL,
    payload    TEXT NOT NULL,
    created_at TEXT NOT NULL,
    sent_at    TEXT,
    PRIMARY KEY (order_id, id)
) STRICT;

CREATE TABLE callbacks (
    id               TEXT PRIMARY KEY,
    account          TEXT NOT NULL,
    method           TEXT NOT NULL DEFAULT '',
    path             TEXT NOT NULL DEFAULT '',
    query            TEXT NOT NULL DEFAULT '',
    headers          TEXT NOT NULL,
    body             BLOB NOT NULL,
    received_at      TEXT NOT NULL,
    last_received_at TEXT NOT NULL,
    deliveries       INTEGER NOT NULL,
    verified         INTEGER NOT NULL,
    reason           TEXT NOT NULL DEFAULT '',
    detail           TEXT NOT NULL DEFAULT '',
    outcome          TEXT NOT NULL DEFAULT '',
    event            TEXT NOT NULL DEFAULT '',
    transaction_id   TEXT NOT NULL DEFAULT '',
    order_id         TEXT NOT NULL DEFAULT '',
    status           INTEGER NOT NULL
) STRICT;
CREATE INDEX callbacks_time ON callbacks (received_at, id);
CREATE INDEX callbacks_refused ON callbacks (received_at, id) WHERE verified = 0;

-- +goose Down
DROP TABLE callbacks;
DROP TABLE messages;
DROP TABLE transitions;
DROP TABLE aliases;
DROP TABLE transactions;
DROP TABLE orders;
