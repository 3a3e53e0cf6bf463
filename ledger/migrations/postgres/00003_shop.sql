-- +goose Up
-- What the shop asks of us. Units of stock, one row an SKU: what is owned in all, what unpaid orders hold, what is sold.
CREATE TABLE stock (
    sku        text PRIMARY KEY,
    quantity   bigint NOT NULL CHECK (quantity >= 0),
    reserved   bigint NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    sold       bigint NOT NULL DEFAULT 0 CHECK (sold >= 0),
    updated_at timestamptz NOT NULL,
    CHECK (quantity - reserved - sold >= 0)
) WITH (fillfactor = 50); -- few rows, updated often: room for the next version beside the last

-- What an order takes from stock. Written with the order and never changed.
CREATE TABLE items (
    order_id text NOT NULL,
    sku      text NOT NULL,
    quantity bigint NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (order_id, sku)
);

-- Orders that are to be closed unless they are paid by then. A table of its own: an index over orders by state would make every
-- move of an order write its indexes.
CREATE TABLE expiries (
    order_id   text NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (expires_at, order_id)
);

-- One-time tokens and idempotency keys: a key counts once for its owner, and keeps the answer it got.
CREATE TABLE tokens (
    owner       text NOT NULL,
    token       text NOT NULL,
    scope       text NOT NULL DEFAULT '',
    state       text NOT NULL,
    fingerprint text NOT NULL DEFAULT '',
    holder      text NOT NULL DEFAULT '',
    held_until  timestamptz,
    status      bigint NOT NULL DEFAULT 0,
    body        text NOT NULL DEFAULT '',
    order_id    text NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    PRIMARY KEY (token, owner)
);
CREATE INDEX tokens_expiry ON tokens (expires_at);

-- +goose Down
DROP TABLE tokens, expiries, items, stock;
