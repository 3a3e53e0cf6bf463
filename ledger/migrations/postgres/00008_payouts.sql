-- +goose Up
-- A payout is told by statements, by callbacks, or by both: date is that of the run whose statement told it, '' when only callbacks did.
ALTER TABLE payouts ADD COLUMN date text NOT NULL DEFAULT '';
ALTER TABLE payouts ADD COLUMN batch text NOT NULL DEFAULT '';          -- what its rows carry instead of payout_id; '': payout_id
ALTER TABLE payouts ADD COLUMN bank_reference text NOT NULL DEFAULT ''; -- what the bank's line shows beside the id; '': not told
UPDATE payouts SET date = coalesce((SELECT date FROM runs WHERE runs.id = payouts.run_id), '');
INSERT INTO payouts (account, payout_id, amount_minor, currency, status, occurred_at, file, run_id)
SELECT account, transaction_id, amount_minor, currency, status, occurred_at, '', '' FROM transactions WHERE kind = 'payout'
ON CONFLICT (account, payout_id) DO NOTHING;
CREATE INDEX payouts_time ON payouts (occurred_at, payout_id);
CREATE INDEX payouts_batch ON payouts (account, batch) WHERE batch <> '';
CREATE INDEX payouts_date ON payouts (account, date) WHERE date <> '';

-- What the statements of one date say a payout is made of: one row a kind and currency, sums in minor units as the balance moved,
-- before fees, and the fees that were kept. As text, for a sum has no size limit.
CREATE TABLE payout_steps (
    account   text NOT NULL,
    payout_id text NOT NULL, -- or the batch
    date      text NOT NULL, -- of the run
    kind      text NOT NULL,
    currency  text NOT NULL,
    count     bigint NOT NULL,
    amount    text NOT NULL,
    fee       text NOT NULL,
    whole     boolean NOT NULL, -- from a report that has all rows of the payout, so that other dates' count no more
    PRIMARY KEY (account, payout_id, date, kind, currency)
);
CREATE INDEX payout_steps_date ON payout_steps (account, date);

-- +goose Down
DROP TABLE payout_steps;
DROP INDEX payouts_time, payouts_batch, payouts_date;
ALTER TABLE payouts DROP COLUMN date;
ALTER TABLE payouts DROP COLUMN batch;
ALTER TABLE payouts DROP COLUMN bank_reference;
