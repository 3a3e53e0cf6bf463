-- +goose Up
-- What the shop asks of us. Units of stock, one row an SKU: what is owned in all, what unpaid orders hold, what is sold.
CREATE TABLE stock (
    sku        TEXT PRIMARY KEY,
    quantity   INTEGER NOT NULL CHECK (quantity >= 0),
    reserved   INTEGER NOT NULL DEFAULT 0 CHECK (reserved >= 0),
    sold       INTEGER NOT NULL DEFAULT 0 CHECK (sold >= 0),
    updated_at TEXT NOT NULL,
    CHECK (quantity - reserved - sold >= 0)
) STRICT;

-- What an order takes from stock. Written with the order and never changed.
CREATE TABLE items (
    order_id TEXT NOT NULL,
    sku      TEXT NOT NULL,
    quantity INTEGER NOT NULL CHECK (quantity > 0),
    PRIMARY KEY (order_id, sku)
) STRICT;

-- Orders that are to be closed unless they are paid by then. A table of its own: an index over orders by state would make every
-- move of an order write its indexes.
CREATE TABLE expiries (
    order_id   TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    PRIMARY KEY (expires_at, order_id)
) STRICT;

-- One-time tokens and idempotency keys: a key counts once for its owner, and keeps the answer it got.
CREATE TABLE tokens (
    owner       TEXT NOT NULL,
    token       TEXT NOT NULL,
    scope       TEXT NOT NULL DEFAULT '',
    state       TEXT NOT NULL,
    fingerprint TEXT NOT NULL DEFAULT '',
    holder      TEXT NOT NULL DEFAULT '',
    held_until  TEXT,
    status      INTEGER NOT NULL DEFAULT 0,
    body        TEXT NOT NULL DEFAULT '',
    order_id    TEXT NOT NULL DEFAULT '',
    created_at  TEXT NOT NULL,
    expires_at  TEXT NOT NULL,
    PRIMARY KEY (token, owner)
) STRICT;
CREATE INDEX tokens_expiry ON tokens (expires_at);

-- +goose Down
DROP TABLE tokens;
DROP TABLE expiries;
DROP TABLE items;
DROP TABLE stock;
