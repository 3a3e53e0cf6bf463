-- +goose Up
-- The third side: what the bank's statements say, and which of their lines are which payouts. date is the run's that has read it, so
-- that a corrected file of that day replaces what it said; one line may be told by the files of several days.
CREATE TABLE bank_statements (
    bank          text NOT NULL,
    date          text NOT NULL,
    place         bigint NOT NULL,
    number        text NOT NULL,
    from_date     text NOT NULL,
    to_date       text NOT NULL,
    opening_minor bigint,
    closing_minor bigint,
    PRIMARY KEY (bank, date, place)
);

CREATE TABLE bank_lines (
    bank         text NOT NULL,
    date         text NOT NULL,
    line_id      text NOT NULL,
    booked_on    text NOT NULL,
    value_on     text NOT NULL,
    amount_minor bigint NOT NULL, -- credits positive, debits negative
    currency     text NOT NULL,
    charge_minor bigint NOT NULL, -- what the bank says that it has kept of it
    reversal     boolean NOT NULL,
    reference    text NOT NULL,
    texts        text NOT NULL,
    file         text NOT NULL,
    line         bigint NOT NULL,
    PRIMARY KEY (bank, date, line_id)
);
CREATE INDEX bank_lines_booked ON bank_lines (bank, booked_on);

CREATE TABLE bank_matches (
    bank      text NOT NULL,
    line_id   text NOT NULL,
    account   text NOT NULL,
    payout_id text NOT NULL,
    booked_on text NOT NULL, -- the line's
    how       text NOT NULL,
    run_id    text NOT NULL,
    PRIMARY KEY (bank, line_id, account, payout_id)
);
CREATE INDEX bank_matches_booked ON bank_matches (bank, booked_on);
CREATE INDEX bank_matches_payout ON bank_matches (account, payout_id);

-- +goose Down
DROP TABLE bank_matches;
DROP TABLE bank_lines;
DROP TABLE bank_statements;
