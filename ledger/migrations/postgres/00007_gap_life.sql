-- +goose Up
-- Whose task a gap is, and until when.
ALTER TABLE gaps ADD COLUMN owner text NOT NULL DEFAULT '';
ALTER TABLE gaps ADD COLUMN due_on text NOT NULL DEFAULT '';
CREATE INDEX gaps_owner ON gaps (owner, due_on) WHERE owner <> '';

-- What was done to gaps, and by whom: rows are only ever added, and each holds the hash of the one before it. The product needs no more than
-- SELECT and INSERT here; take UPDATE, DELETE and TRUNCATE away from its user where you can.
CREATE TABLE audit (
    seq      bigint PRIMARY KEY, -- 1, 2, 3 …, none left out
    at       timestamptz NOT NULL,
    actor    text NOT NULL,
    action   text NOT NULL,
    subject  text NOT NULL, -- gap/ID, run/ID, …
    detail   text NOT NULL, -- JSON, to the byte as it was hashed
    previous text NOT NULL, -- the hash of the row before; '' for the first
    hash     text NOT NULL
);
CREATE INDEX audit_subject ON audit (subject, seq);
CREATE INDEX audit_actor ON audit (actor, seq) WHERE actor <> 'run';

-- Where the log ends. Whoever adds to it locks this row, so that there is one chain; and a tail that was cut off is missed by it.
CREATE TABLE audit_head (
    name text PRIMARY KEY,
    seq  bigint NOT NULL,
    hash text NOT NULL
);
INSERT INTO audit_head (name, seq, hash) VALUES ('audit', 0, '');

-- +goose Down
DROP TABLE audit_head;
DROP TABLE audit;
DROP INDEX gaps_owner;
ALTER TABLE gaps DROP COLUMN owner;
ALTER TABLE gaps DROP COLUMN due_on;
