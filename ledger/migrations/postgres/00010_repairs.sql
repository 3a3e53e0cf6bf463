-- +goose Up
-- What is planned, approved and done to close gaps. Ids made by the application; an item is one gap of one repair. The plan's content does
-- not change once it is written: what was approved is what is applied. What came of an item is written beside it.
CREATE TABLE repairs (
    id          text PRIMARY KEY,
    account     text NOT NULL,
    date        text NOT NULL,
    run_id      text NOT NULL,
    state       text NOT NULL,
    hash        text NOT NULL,
    made_by     text NOT NULL,
    made_at     timestamptz NOT NULL,
    approved_by text NOT NULL DEFAULT '',
    approved_at timestamptz,
    applied_by  text NOT NULL DEFAULT '',
    applied_at  timestamptz,
    reversed_by text NOT NULL DEFAULT '',
    reversed_at timestamptz,
    reason      text NOT NULL DEFAULT ''
);
CREATE INDEX repairs_time ON repairs (made_at, id);
CREATE INDEX repairs_day ON repairs (account, date, made_at);

CREATE TABLE repair_items (
    repair_id       text NOT NULL,
    gap_id          text NOT NULL,
    place           bigint NOT NULL,
    state           text NOT NULL,
    gap_kind        text NOT NULL,
    gap_hash        text NOT NULL,
    kind            text NOT NULL,
    transaction_id  text NOT NULL,
    parent_id       text NOT NULL DEFAULT '',
    order_id        text NOT NULL DEFAULT '',
    refund_order_id text NOT NULL DEFAULT '',
    amount_minor    bigint NOT NULL,
    currency        text NOT NULL,
    status          text NOT NULL DEFAULT '',
    occurred_at     timestamptz,
    event           text NOT NULL,
    file            text NOT NULL DEFAULT '',
    line            bigint NOT NULL DEFAULT 0,
    why             text NOT NULL,
    next            text NOT NULL DEFAULT '',
    outcome         text NOT NULL DEFAULT '',
    topics          text NOT NULL,
    result          text NOT NULL DEFAULT '',
    booked_as       text NOT NULL DEFAULT '',
    booked_at       timestamptz,
    undo            text NOT NULL,
    PRIMARY KEY (repair_id, gap_id)
);

-- Whom a provider is still to be asked about: an order that stays unpaid, a payment that stays pending, a message that must be looked up.
CREATE TABLE inquiries (
    subject text NOT NULL,
    account text NOT NULL,
    query   text NOT NULL,
    since   timestamptz NOT NULL,
    tries   bigint NOT NULL DEFAULT 0,
    next_at timestamptz, -- NULL: given up
    last_at timestamptz,
    result  text NOT NULL DEFAULT '',
    PRIMARY KEY (subject, account)
);
CREATE INDEX inquiries_due ON inquiries (next_at, subject) WHERE next_at IS NOT NULL;

-- +goose Down
DROP TABLE inquiries, repair_items, repairs;
