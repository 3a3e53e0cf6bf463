-- +goose Up
-- Natural keys, ids made by the application, one unique key a table, no foreign keys between tables that a cluster may place
-- apart: the same schema runs on one PostgreSQL and on a distributed one.
CREATE TABLE orders (
    order_id            text PRIMARY KEY,
    amount_minor        bigint NOT NULL CHECK (amount_minor >= 0),
    currency            text NOT NULL,
    status              text NOT NULL,
    version             bigint NOT NULL,
    refunded_minor      bigint NOT NULL DEFAULT 0,
    shipped             boolean NOT NULL DEFAULT false,
    prior_status        text NOT NULL DEFAULT '',
    stock               text NOT NULL DEFAULT '',
    paid_account        text NOT NULL DEFAULT '',
    paid_transaction_id text NOT NULL DEFAULT '',
    expires_at          timestamptz,
    created_at          timestamptz NOT NULL,
    updated_at          timestamptz NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE transactions (
    account         text NOT NULL,
    kind            text NOT NULL,
    transaction_id  text NOT NULL,
    provider_id     text NOT NULL DEFAULT '',
    parent_id       text NOT NULL DEFAULT '',
    order_id        text NOT NULL DEFAULT '',
    refund_order_id text NOT NULL DEFAULT '',
    amount_minor    bigint NOT NULL CHECK (amount_minor >= 0),
    currency        text NOT NULL,
    payer_minor     bigint NOT NULL DEFAULT 0,
    refunded_minor  bigint NOT NULL DEFAULT 0,
    derived         boolean NOT NULL DEFAULT false,
    status          text NOT NULL,
    event           text NOT NULL,
    outcome         text NOT NULL,
    detail          text NOT NULL DEFAULT '',
    source          text NOT NULL,
    callback_id     text NOT NULL DEFAULT '',
    occurred_at     timestamptz NOT NULL,
    lost_at         timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    -- the key is (account, kind, transaction_id); in this order one comparison tells two of them apart, and the usual one three
    PRIMARY KEY (transaction_id, account, kind)
);
CREATE INDEX transactions_time ON transactions (account, occurred_at, transaction_id);
CREATE INDEX transactions_order ON transactions (order_id);
CREATE INDEX transactions_parked ON transactions (parent_id, account) WHERE outcome = 'no_order';

CREATE TABLE aliases (
    account        text NOT NULL,
    kind           text NOT NULL,
    alias          text NOT NULL,
    transaction_id text NOT NULL,
    PRIMARY KEY (alias, account, kind)
);

CREATE TABLE transitions (
    order_id       text NOT NULL,
    version        bigint NOT NULL,
    "from"         text NOT NULL,
    "to"           text NOT NULL,
    event          text NOT NULL,
    account        text NOT NULL DEFAULT '',
    kind           text NOT NULL DEFAULT '',
    transaction_id text NOT NULL DEFAULT '',
    at             timestamptz NOT NULL,
    PRIMARY KEY (order_id, version)
);

CREATE TABLE messages (
    order_id   text NOT NULL,
    id         text NOT NULL,
    topic      text NOT NULL,
    payload    text NOT NULL,
    created_at timestamptz NOT NULL,
    sent_at    timestamptz,
    PRIMARY KEY (order_id, id)
);

CREATE TABLE callbacks (
    id               text PRIMARY KEY,
    account          text NOT NULL,
    method           text NOT NULL DEFAULT '',
    path             text NOT NULL DEFAULT '',
    query            text NOT NULL DEFAULT '',
    headers          text NOT NULL,
    body             bytea NOT NULL,
    received_at      timestamptz NOT NULL,
    last_received_at timestamptz NOT NULL,
    deliveries       bigint NOT NULL,
    verified         boolean NOT NULL,
    reason           text NOT NULL DEFAULT '',
    detail           text NOT NULL DEFAULT '',
    outcome          text NOT NULL DEFAULT '',
    event            text NOT NULL DEFAULT '',
    transaction_id   text NOT NULL DEFAULT '',
    order_id         text NOT NULL DEFAULT '',
    status           bigint NOT NULL
);
CREATE INDEX callbacks_time ON callbacks (received_at, id);
CREATE INDEX callbacks_refused ON callbacks (received_at, id) WHERE NOT verified;

-- +goose Down
DROP TABLE callbacks, messages, transitions, aliases, transactions, orders;
