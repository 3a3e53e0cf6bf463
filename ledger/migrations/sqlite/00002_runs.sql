-- +goose Up
-- What the daily runs leave behind. The same rules as the book: natural keys, ids made by the application, nothing refers by
-- foreign key.
CREATE TABLE turns (
    account TEXT PRIMARY KEY,
    turn    INTEGER NOT NULL
) STRICT;

-- Who does a long job that one at a time may do: run/ACCOUNT/DATE, repair/NAME. A claim that is not renewed ends. The row stays, for
-- its fence must grow with every holder there ever is.
CREATE TABLE leases (
    name   TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fence  INTEGER NOT NULL,
    since  TEXT NOT NULL,
    until  TEXT -- NULL: given back
) STRICT;

CREATE TABLE runs (
    id             TEXT PRIMARY KEY,
    account        TEXT NOT NULL,
    provider       TEXT NOT NULL,
    date           TEXT NOT NULL,
    time_zone      TEXT NOT NULL,
    result         TEXT NOT NULL,
    files          TEXT NOT NULL,
    entries        INTEGER NOT NULL,
    control_totals TEXT NOT NULL,
    report         TEXT NOT NULL,
    fingerprint    TEXT NOT NULL,
    created_at     TEXT NOT NULL
) STRICT;
CREATE INDEX runs_day ON runs (account, date, created_at);
CREATE INDEX runs_time ON runs (created_at, id);

CREATE TABLE gaps (
    id              TEXT PRIMARY KEY,
    account         TEXT NOT NULL,
    date            TEXT NOT NULL,
    kind            TEXT NOT NULL,
    differs         TEXT NOT NULL,
    entry_kind      TEXT NOT NULL,
    transaction_id  TEXT NOT NULL,
    order_id        TEXT NOT NULL DEFAULT '',
    parent_id       TEXT NOT NULL DEFAULT '',
    refund_order_id TEXT NOT NULL DEFAULT '',
    state           TEXT NOT NULL,
    statement       TEXT NOT NULL,
    ledger          TEXT NOT NULL,
    "order"         TEXT NOT NULL,
    reason          TEXT NOT NULL,
    next            TEXT NOT NULL,
    first_run       TEXT NOT NULL,
    last_run        TEXT NOT NULL,
    waits_for       TEXT NOT NULL,
    decided_on      TEXT NOT NULL DEFAULT '',
    healed_run      TEXT NOT NULL DEFAULT '',
    resolution      TEXT NOT NULL DEFAULT '',
    first_seen      TEXT NOT NULL,
    resolved_at     TEXT
) STRICT;
CREATE INDEX gaps_day ON gaps (account, date);
CREATE INDEX gaps_unsettled ON gaps (account, kind) WHERE state IN ('open', 'carried');
CREATE INDEX gaps_decided ON gaps (account, decided_on) WHERE decided_on <> '';
CREATE INDEX gaps_time ON gaps (first_seen, id);

CREATE TABLE statements (
    account        TEXT NOT NULL,
    date           TEXT NOT NULL,
    sha256         TEXT NOT NULL,
    name           TEXT NOT NULL,
    title          TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    compared       INTEGER NOT NULL,
    batch          INTEGER NOT NULL,
    only_kind      TEXT NOT NULL,
    run_id         TEXT NOT NULL,
    read_at        TEXT NOT NULL,
    PRIMARY KEY (account, date, sha256)
) STRICT;
CREATE INDEX statements_batches ON statements (account, content_sha256) WHERE batch;

CREATE TABLE payouts (
    account      TEXT NOT NULL,
    payout_id    TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency     TEXT NOT NULL,
    status       TEXT NOT NULL,
    occurred_at  TEXT NOT NULL,
    file         TEXT NOT NULL,
    run_id       TEXT NOT NULL,
    PRIMARY KEY (account, payout_id)
) STRICT;

CREATE TABLE crossed (
    account        TEXT NOT NULL,
    kind           TEXT NOT NULL,
    transaction_id TEXT NOT NULL,
    date           TEXT NOT NULL,
    PRIMARY KEY (transaction_id, account, kind, date)
) STRICT;
CREATE INDEX crossed_day ON crossed (account, date);

-- +goose Down
DROP TABLE crossed;
DROP TABLE payouts;
DROP TABLE statements;
DROP TABLE gaps;
DROP TABLE runs;
DROP TABLE leases;
DROP TABLE turns;
