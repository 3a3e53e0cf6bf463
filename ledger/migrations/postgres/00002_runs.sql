-- +goose Up
-- What the daily runs leave behind. The same rules as the book: natural keys, ids made by the application, nothing refers by
-- foreign key.
CREATE TABLE turns (
    account text PRIMARY KEY,
    turn    bigint NOT NULL
);

-- Who does a long job that one at a time may do: run/ACCOUNT/DATE, repair/NAME. A claim that is not renewed ends. The row stays, for
-- its fence must grow with every holder there ever is.
CREATE TABLE leases (
    name   text PRIMARY KEY,
    holder text NOT NULL,
    fence  bigint NOT NULL,
    since  timestamptz NOT NULL,
    until  timestamptz -- NULL: given back
);

CREATE TABLE runs (
    id             text PRIMARY KEY,
    account        text NOT NULL,
    provider       text NOT NULL,
    date           text NOT NULL,
    time_zone      text NOT NULL,
    result         text NOT NULL,
    files          text NOT NULL,
    entries        bigint NOT NULL,
    control_totals text NOT NULL,
    report         text NOT NULL,
    fingerprint    text NOT NULL,
    created_at     timestamptz NOT NULL
);
CREATE INDEX runs_day ON runs (account, date, created_at);
CREATE INDEX runs_time ON runs (created_at, id);

CREATE TABLE gaps (
    id              text PRIMARY KEY,
    account         text NOT NULL,
    date            text NOT NULL,
    kind            text NOT NULL,
    differs         text NOT NULL,
    entry_kind      text NOT NULL,
    transaction_id  text NOT NULL,
    order_id        text NOT NULL DEFAULT '',
    parent_id       text NOT NULL DEFAULT '',
    refund_order_id text NOT NULL DEFAULT '',
    state           text NOT NULL,
    statement       text NOT NULL,
    ledger          text NOT NULL,
    "order"         text NOT NULL,
    reason          text NOT NULL,
    next            text NOT NULL,
    first_run       text NOT NULL,
    last_run        text NOT NULL,
    waits_for       text NOT NULL,
    decided_on      text NOT NULL DEFAULT '',
    healed_run      text NOT NULL DEFAULT '',
    resolution      text NOT NULL DEFAULT '',
    first_seen      timestamptz NOT NULL,
    resolved_at     timestamptz
);
CREATE INDEX gaps_day ON gaps (account, date);
CREATE INDEX gaps_unsettled ON gaps (account, kind) WHERE state IN ('open', 'carried');
CREATE INDEX gaps_decided ON gaps (account, decided_on) WHERE decided_on <> '';
CREATE INDEX gaps_time ON gaps (first_seen, id);

CREATE TABLE statements (
    account        text NOT NULL,
    date           text NOT NULL,
    sha256         text NOT NULL,
    name           text NOT NULL,
    title          text NOT NULL,
    content_sha256 text NOT NULL,
    compared       boolean NOT NULL,
    batch          boolean NOT NULL,
    only_kind      text NOT NULL,
    run_id         text NOT NULL,
    read_at        timestamptz NOT NULL,
    PRIMARY KEY (account, date, sha256)
);
CREATE INDEX statements_batches ON statements (account, content_sha256) WHERE batch;

CREATE TABLE payouts (
    account      text NOT NULL,
    payout_id    text NOT NULL,
    amount_minor bigint NOT NULL,
    currency     text NOT NULL,
    status       text NOT NULL,
    occurred_at  timestamptz NOT NULL,
    file         text NOT NULL,
    run_id       text NOT NULL,
    PRIMARY KEY (account, payout_id)
);

CREATE TABLE crossed (
    account        text NOT NULL,
    kind           text NOT NULL,
    transaction_id text NOT NULL,
    date           text NOT NULL,
    PRIMARY KEY (transaction_id, account, kind, date)
);
CREATE INDEX crossed_day ON crossed (account, date);

-- +goose Down
DROP TABLE crossed, payouts, statements, gaps, runs, leases, turns;
