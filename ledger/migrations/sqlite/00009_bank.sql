-- +goose Up
-- The third side: what the bank's statements say, and which of their lines are which payouts. date is the run's that has read it, so
-- that a corrected file of that day replaces what it said; one line may be told by the files of several days.
CREATE TABLE bank_statements (
    bank          TEXT NOT NULL,
    date          TEXT NOT NULL,
    place         INTEGER NOT NULL,
    number        TEXT NOT NULL,
    from_date     TEXT NOT NULL,
    to_date       TEXT NOT NULL,
    opening_minor INTEGER,
    closing_minor INTEGER,
    PRIMARY KEY (bank, date, place)
) STRICT;

CREATE TABLE bank_lines (
    bank         TEXT NOT NULL,
    date         TEXT NOT NULL,
    line_id      TEXT NOT NULL,
    booked_on    TEXT NOT NULL,
    value_on     TEXT NOT NULL,
    amount_minor INTEGER NOT NULL, -- credits positive, debits negative
    currency     TEXT NOT NULL,
    charge_minor INTEGER NOT NULL, -- what the bank says that it has kept of it
    reversal     INTEGER NOT NULL,
    reference    TEXT NOT NULL,
    texts        TEXT NOT NULL,
    file         TEXT NOT NULL,
    line         INTEGER NOT NULL,
    PRIMARY KEY (bank, date, line_id)
) STRICT;
CREATE INDEX bank_lines_booked ON bank_lines (bank, booked_on);

CREATE TABLE bank_matches (
    bank      TEXT NOT NULL,
    line_id   TEXT NOT NULL,
    account   TEXT NOT NULL,
    payout_id TEXT NOT NULL,
    booked_on TEXT NOT NULL, -- the line's
    how       TEXT NOT NULL,
    run_id    TEXT NOT NULL,
    PRIMARY KEY (bank, line_id, account, payout_id)
) STRICT;
CREATE INDEX bank_matches_booked ON bank_matches (bank, booked_on);
CREATE INDEX bank_matches_payout ON bank_matches (account, payout_id);

-- +goose Down
DROP TABLE bank_matches;
DROP TABLE bank_lines;
DROP TABLE bank_statements;
