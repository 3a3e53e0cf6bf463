-- +goose Up
-- What is planned, approved and done to close gaps. Ids made by the application; an item is one gap of one repair. The plan's content does
-- not change once it is written: what was approved is what is applied. What came of an item is written beside it.
CREATE TABLE repairs (
    id          TEXT PRIMARY KEY,
    account     TEXT NOT NULL,
    date        TEXT NOT NULL,
    run_id      TEXT NOT NULL,
    state       TEXT NOT NULL,
    hash        TEXT NOT NULL,
    made_by     TEXT NOT NULL,
    made_at     TEXT NOT NULL,
    approved_by TEXT NOT NULL DEFAULT '',
    approved_at TEXT,
    applied_by  TEXT NOT NULL DEFAULT '',
    applied_at  TEXT,
    reversed_by TEXT NOT NULL DEFAULT '',
    reversed_at TEXT,
    reason      TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX repairs_time ON repairs (made_at, id);
CREATE INDEX repairs_day ON repairs (account, date, made_at);

CREATE TABLE repair_items (
    repair_id       TEXT NOT NULL,
    gap_id          TEXT NOT NULL,
    place           INTEGER NOT NULL,
    state           TEXT NOT NULL,
    gap_kind        TEXT NOT NULL,
    gap_hash        TEXT NOT NULL,
    kind            TEXT NOT NULL,
    transaction_id  TEXT NOT NULL,
    parent_id       TEXT NOT NULL DEFAULT '',
    order_id        TEXT NOT NULL DEFAULT '',
    refund_order_id TEXT NOT NULL DEFAULT '',
    amount_minor    INTEGER NOT NULL,
    currency        TEXT NOT NULL,
    status          TEXT NOT NULL DEFAULT '',
    occurred_at     TEXT,
    event           TEXT NOT NULL,
    file            TEXT NOT NULL DEFAULT '',
    line            INTEGER NOT NULL DEFAULT 0,
    why             TEXT NOT NULL,
    next            TEXT NOT NULL DEFAULT '',
    outcome         TEXT NOT NULL DEFAULT '',
    topics          TEXT NOT NULL,
    result          TEXT NOT NULL DEFAULT '',
    booked_as       TEXT NOT NULL DEFAULT '',
    booked_at       TEXT,
    undo            TEXT NOT NULL,
    PRIMARY KEY (repair_id, gap_id)
) STRICT;

-- Whom a provider is still to be asked about: an order that stays unpaid, a payment that stays pending, a message that must be looked up.
CREATE TABLE inquiries (
    subject TEXT NOT NULL,
    account TEXT NOT NULL,
    query   TEXT NOT NULL,
    since   TEXT NOT NULL,
    tries   INTEGER NOT NULL DEFAULT 0,
    next_at TEXT, -- NULL: given up
    last_at TEXT,
    result  TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (subject, account)
) STRICT;
CREATE INDEX inquiries_due ON inquiries (next_at, subject) WHERE next_at IS NOT NULL;

-- +goose Down
DROP TABLE inquiries;
DROP TABLE repair_items;
DROP TABLE repairs;
