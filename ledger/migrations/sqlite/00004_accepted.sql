-- +goose Up
-- Orders that were accepted in a flash sale and are still to be written: their units are reserved, their buyers have the answer, and a
-- job of the queue writes each batch. A row is here or in orders, never in both.
CREATE TABLE accepted (
    order_id     TEXT PRIMARY KEY,
    batch        TEXT NOT NULL,
    amount_minor INTEGER NOT NULL,
    currency     TEXT NOT NULL,
    items        TEXT NOT NULL,
    expires_at   TEXT,
    created_at   TEXT NOT NULL
) STRICT;
CREATE INDEX accepted_batch ON accepted (batch);

-- +goose Down
DROP TABLE accepted;
