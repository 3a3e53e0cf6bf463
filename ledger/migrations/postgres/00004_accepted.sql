-- +goose Up
-- Orders that were accepted in a flash sale and are still to be written: their units are reserved, their buyers have the answer, and a
-- job of the queue writes each batch. A row is here or in orders, never in both.
CREATE TABLE accepted (
    order_id     text PRIMARY KEY,
    batch        text NOT NULL,
    amount_minor bigint NOT NULL,
    currency     text NOT NULL,
    items        text NOT NULL,
    expires_at   timestamptz,
    created_at   timestamptz NOT NULL
);
CREATE INDEX accepted_batch ON accepted (batch);

-- +goose Down
DROP TABLE accepted;
